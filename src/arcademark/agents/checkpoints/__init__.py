"""Trained networks that are played from their files.

::

    paths.py      a pattern, 'models/{game}/seed{seed}.zip' → the file of a trial
    hub.py        a model of the Hugging Face Hub → its file
    reading.py    a file's bytes → its contents.py, tensors and settings; nothing in it is run
    pytorch_files.py  the same for PyTorch's files and Stable-Baselines3's archives
    pickled.py    objects that a pickle names → stand-ins that do nothing
    orbax_folders.py  a folder that Orbax wrote → tensors
    libraries.py  tensors and settings → a network that values or weighs each action, made of parts in networks.py
    shapes.py     the same for networks that only tensors' shapes identify
    foreign.py    the same for ONNX, TorchScript and RLlib, which contain their own
    policy.py     a network → a policy on a batch of episodes
    choosing.py   a network's outputs → actions, of any kind

PyTorch and the other libraries are imported where they are needed, never by the package itself.
"""
