"""Networks identified by the shapes of their tensors, and layers that these do not identify."""

import json
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-all")

from saved_networks import (  # noqa: E402
    ACTIONS,
    PONG,
    SMALL,
    QNetwork,
    answers,
    assert_same,
    flax_tree,
    layers,
    named,
    observations,
    packed,
    padded,
    refused,
    renamed,
    saved,
    seeded,
    values,
)
from torch import nn  # noqa: E402

from arcademark.agents.checkpoints.policy import CheckpointPlayer, check  # noqa: E402
from arcademark.errors import ArcadeMarkError  # noqa: E402

pytestmark = pytest.mark.needs("torch")


@pytest.mark.parametrize(
    ("layer", "why"),
    [
        *(
            (layer, "may be an RMSNorm, a PReLU")
            for layer in (nn.RMSNorm(16), nn.PReLU(16), nn.LayerNorm(16, bias=False))
        ),
    ],
)
def test_a_layer_that_is_not_told_from_another_is_refused(layer, why, tmp_path):
    parts = [*layers(outputs=0), nn.Linear(392, 16), layer, nn.ReLU(), nn.Linear(16, ACTIONS)]
    with pytest.raises(ArcadeMarkError, match=f"{why}.*--set network=file.py:Class"):
        values(saved(tmp_path, QNetwork(*parts).state_dict()))
    assert_same(
        values(saved(tmp_path, (network := seeded(QNetwork(*parts[:8], nn.LayerNorm(16), *parts[9:]))).state_dict()))[
            0
        ],
        answers(network),
    )


NORMS = {
    "GroupNorm": lambda channels: nn.GroupNorm(4, channels),
    "BatchNorm without statistics": lambda channels: nn.BatchNorm2d(channels, track_running_stats=False),
    "InstanceNorm": lambda channels: nn.InstanceNorm2d(channels, affine=True),
}


@pytest.mark.parametrize("kind", NORMS)
def test_a_normalisation_of_channels_is_refused_by_name(kind, tmp_path):
    parts = layers(16)
    parts.insert(1, NORMS[kind](8))
    with refused(r"'network\.1', after a convolution, may be a BatchNorm, a GroupNorm or an InstanceNorm"):
        values(saved(tmp_path, QNetwork(*parts).state_dict()))


def normalised(norm=nn.BatchNorm2d, **options):
    """Return a network with batch normalisations that have seen something, and no biases before them."""
    parts = layers(16)
    parts[4:5] = [nn.Conv2d(8, 8, 3, 1, bias=False), norm(8, **options)]
    parts[1:1] = [norm(8, **options)]
    parts.insert(10, nn.BatchNorm1d(16, affine=False))
    network = seeded(nn.Sequential(*parts))
    generator = torch.Generator().manual_seed(2)
    for name, value in network.named_buffers():
        if "running" in name:
            value.copy_(torch.rand(value.shape, generator=generator) * 2 + 0.1)
    return network


@pytest.mark.parametrize("names", ["network.{name}", "body.net.{name}"])
def test_batch_normalisations_of_a_numbered_row_are_played_with_their_statistics(names, tmp_path):
    network = normalised()
    given, said = values(saved(tmp_path, renamed(network, names)))
    assert_same(given, answers(network))
    assert f"'{names.format(name=1)}' as BatchNorm right after '{names.format(name=0)}', " in said
    moved = nn.Sequential(*network[:1], nn.ReLU(), *network[1:2], *network[3:])  # after the activation
    with refused(r"'network\.2', after a convolution, may be a BatchNorm|unknown layers: 'body"):
        values(saved(tmp_path, renamed(moved, names)))


def test_statistics_that_do_not_fit_the_layer_before_them_are_refused(tmp_path):
    tensors = renamed(normalised(), "body.{name}")
    for change in ({"body.1.running_var": torch.ones(1)}, {"body.0.weight": torch.ones(8, 4, 8, 8, dtype=torch.int8)}):
        with refused("unknown layers: 'body|'body.0.weight' has whole numbers"):
            values(saved(tmp_path, tensors | change))
    del tensors["body.1.running_mean"]
    with refused("unknown layers: 'body"):
        values(saved(tmp_path, tensors))


def test_a_batch_normalisation_beside_a_layer_of_its_number_is_played(tmp_path):
    network, rest = normalised(), named()[1]
    rest = {name: value for name, value in rest.items() if not name.startswith("conv")}
    places = {"conv1": 0, "bn1": 1, "conv2": 3, "conv3": 5, "bn3": 6, "fc1": 9, "bn_fc1": 10, "fc2": 12}

    def tensors(order):
        return {f"{name}.{key}": value for name in order for key, value in network[places[name]].state_dict().items()}

    assert_same(values(saved(tmp_path, tensors(places)))[0], answers(network))
    for order in (sorted(places), ["conv1", "conv2", "bn1", "conv3", "bn3", "fc1", "bn_fc1", "fc2"]):
        with refused("unknown layers: 'bn"):
            values(saved(tmp_path, tensors(order)))


@pytest.mark.parametrize("norm", [nn.BatchNorm2d, nn.InstanceNorm2d])
def test_a_normalisation_that_adds_another_number_to_variances_is_refused(norm, tmp_path):
    if norm is nn.BatchNorm2d:
        assert_same(values(saved(tmp_path, QNetwork(*normalised())))[0], answers(normalised()))
    with refused("its module has InstanceNorm2d" if norm is nn.InstanceNorm2d else "normalisation that adds 0.001"):
        values(saved(tmp_path, QNetwork(*normalised(norm, eps=1e-3))))


@pytest.mark.parametrize("norm", [nn.LayerNorm(16), nn.GroupNorm(4, 16), nn.BatchNorm1d(16, track_running_stats=False)])
def test_what_is_taken_for_a_layer_norm_is_said(norm, tmp_path):
    network = seeded(QNetwork(*layers(outputs=0), nn.Linear(392, 16), norm, nn.ReLU(), nn.Linear(16, ACTIONS)))
    assert "'network.8' as LayerNorm" in values(saved(tmp_path, network.state_dict()))[1]


def test_a_gap_between_numbers_is_a_layer_without_tensors(tmp_path):
    pooled = [nn.Conv2d(4, 8, 8, 4), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 8, 4, 2), nn.ReLU(), nn.Flatten()]
    tensors = QNetwork(*pooled, nn.Linear(8 * 16, 16), nn.ReLU(), nn.Linear(16, ACTIONS)).state_dict()
    with refused(r"between 'network\.0' and 'network\.3' is a layer without tensors, such as a pooling"):
        values(saved(tmp_path, tensors))
    normed = layers(16)
    normed.insert(1, nn.InstanceNorm2d(8))
    assert "only relu between its layers" in values(saved(tmp_path, QNetwork(*normed).state_dict()))[1]
    network = QNetwork()
    torch.nn.utils.parametrizations.spectral_norm(network.network[7])
    with refused(r"it has no tensor 'network\.7\.weight'; the tensors are"):
        values(saved(tmp_path, network.state_dict()))


CORES = [nn.RNN(16, 12), nn.LSTM(16, 6, bidirectional=True), nn.LSTM(16, 24, proj_size=12)]


@pytest.mark.parametrize("core", CORES, ids=["RNN", "both ways", "projected"])
def test_a_recurrent_core_of_another_kind_is_named(core, tmp_path):
    parts = {"network": nn.Sequential(*layers(16, outputs=0)), "lstm": core, "actor": nn.Linear(12, ACTIONS)}
    with refused("'lstm' is not a unidirectional LSTM or GRU without projections"):
        values(saved(tmp_path, nn.ModuleDict(parts).state_dict()))


@pytest.mark.parametrize("kind", [torch.int8, torch.bool, torch.int64])
def test_weights_that_are_whole_numbers_are_refused(kind, tmp_path):
    weights = {name: (30 * value).to(kind) for name, value in seeded(QNetwork()).state_dict().items()}
    with pytest.raises(ArcadeMarkError, match=r"'network.0.weight' has whole numbers \("):
        values(saved(tmp_path, weights))


@pytest.mark.parametrize("names", [("b", "d", "c"), ("conv3", "conv2", "conv1")])
def test_convolutions_whose_names_and_places_give_two_orders_are_refused(names, tmp_path):
    parts = layers()
    tensors = {
        f"{name}.{key}": value
        for name, i in zip((*names, "fc"), (0, 2, 4, 7), strict=True)
        for key, value in parts[i].state_dict().items()
    }
    with pytest.raises(ArcadeMarkError, match=r"the order of its convolutions by names \("):
        values(saved(tmp_path, tensors))


def tianshou():
    """``policy.state_dict()`` of tianshou 2.0 with its Atari network; the algorithm's holds a copy of the model."""
    eyes, dense = layers(16)[:6], layers(16)[6:]
    network = seeded(nn.Sequential(nn.Sequential(*eyes, nn.Flatten()), *dense[1:]))
    tensors = renamed(network, "policy.model.module.net.{name}")
    return network, tensors | renamed(seeded(network, 1), "model_old.module.module.net.{name}") | {"_optimizers": []}


def torchrl_value():
    """``DQNLoss.state_dict()`` of TorchRL 0.14: a ConvNet and an MLP, with a target network."""
    network = seeded(nn.Sequential(nn.Sequential(*layers(outputs=0)[:7]), nn.Sequential(*layers(16)[7:])))
    names = "{}value_network_params.module.0.module.{{name}}"
    tensors = renamed(network, names.format("")) | renamed(network, names.format("target_"))
    return network, {"loss": tensors}


def torchrl_actor():
    """``ActorValueOperator.state_dict()`` of TorchRL 0.14."""
    eyes = nn.Sequential(nn.Sequential(*layers(outputs=0)[:7]), nn.Sequential(nn.Linear(392, 16), nn.ReLU()))
    head, value = nn.Sequential(nn.Linear(16, ACTIONS)), nn.Sequential(nn.Linear(16, 1))
    network = seeded(nn.Sequential(eyes, head, value))
    tensors = renamed(eyes, "module.0.module.{name}") | renamed(head, "module.1.module.0.module.{name}")
    return network[:2], tensors | renamed(value, "module.2.module.{name}")


def dueling():
    """A network whose values are advantages but for a number of each row's."""
    eyes = nn.Sequential(*layers(outputs=0)[:7])
    advantage, value = (nn.Sequential(nn.Linear(392, 16), nn.ReLU(), nn.Linear(16, n)) for n in (ACTIONS, 1))
    whole = seeded(nn.ModuleDict({"eyes": eyes, "advantage": advantage, "value": value}))
    return nn.Sequential(eyes, advantage), whole.state_dict()


def two_encoders():
    """An actor and two critics, each with its own eyes; as of discrete SAC the critics value each action, too."""
    parts = {name: nn.Sequential(*layers(16, 16)) for name in ("actor", "critic1", "critic2")}
    whole = seeded(nn.ModuleDict(parts))
    return whole["actor"], whole.state_dict() | {"log_alpha": torch.zeros(1)}


def encoder():
    """Names that begin as those of RLlib's modules."""
    parts = nn.ModuleDict({"cnn": nn.Sequential(*layers(outputs=0)[:7]), "fc": nn.Sequential(*layers(16)[7:])})
    whole = seeded(nn.ModuleDict({"encoder": parts}))
    return nn.Sequential(parts["cnn"], parts["fc"]), whole.state_dict()


def recurrent():
    """A network that remembers, told at its first step."""
    eyes, core, head = nn.Sequential(*layers(16, outputs=0)), nn.LSTM(16, 12), nn.Linear(12, ACTIONS)
    whole = seeded(nn.ModuleDict({"eyes": eyes, "memory": core, "policy_head": head, "value_head": nn.Linear(12, 1)}))
    return lambda x: head(core(eyes(x).unsqueeze(0))[0][0]), whole.state_dict()


def with_a_gru():
    """``Policy.state_dict()`` of pytorch-a2c-ppo-acktr-gail with a GRU, which gives as many numbers as it takes."""
    eyes, core, head = nn.Sequential(*layers(16, outputs=0)), nn.GRU(16, 16), nn.Linear(16, ACTIONS)
    base = nn.ModuleDict({"gru": core, "main": eyes, "critic_linear": nn.Linear(16, 1)})
    whole = seeded(nn.ModuleDict({"base": base, "dist": nn.ModuleDict({"linear": head})}))
    return lambda x: head(core(eyes(x).unsqueeze(0))[0][0]), whole.state_dict()


def with_a_cell(kind):
    """A network with ``LSTMCell`` or ``GRUCell``, at its first step."""
    parts = {"eyes": nn.Sequential(*layers(16, outputs=0)), "cell": kind(16, 16), "actor": nn.Linear(16, ACTIONS)}
    whole = seeded(nn.ModuleDict(parts | {"critic": nn.Linear(16, 1)}))

    def play(x):
        memory = whole["cell"](whole["eyes"](x))
        return whole["actor"](memory[0] if isinstance(memory, tuple) else memory)

    return play, whole.state_dict()


def with_a_lstm_cell():
    return with_a_cell(nn.LSTMCell)


def with_a_gru_cell():
    return with_a_cell(nn.GRUCell)


def of_a_hidden_size():
    """``Policy.state_dict()`` of pytorch-a2c-ppo-acktr-gail, whose hidden layer could see screens of 64 x 64, too."""
    eyes, head = seeded(nn.Sequential(*layers(8 * 4 * 4, outputs=0))), seeded(nn.Linear(8 * 4 * 4, ACTIONS))
    tensors = renamed(eyes, "base.main.{name}") | renamed(head, "dist.linear.{name}")
    return nn.Sequential(eyes, head), tensors | renamed(nn.Linear(8 * 4 * 4, 1), "base.critic_linear.{name}")


def actor_with_a_layer_of_its_own():
    """A layer that follows the one that it feeds, in the order of names."""
    eyes, own, head = nn.Sequential(*layers(16, outputs=0)), nn.Linear(16, 16), nn.Linear(16, ACTIONS)
    parts = {"network": eyes, "actor_fc": own, "actor": head, "critic": nn.Linear(16, 1)}
    whole = seeded(nn.ModuleDict(parts))
    return nn.Sequential(eyes, own, nn.ReLU(), head), whole.state_dict()


LIBRARIES = (
    *(tianshou, torchrl_value, torchrl_actor, dueling, named, two_encoders, encoder, recurrent, of_a_hidden_size),
    *(actor_with_a_layer_of_its_own, with_a_gru, with_a_lstm_cell, with_a_gru_cell),
)


@pytest.mark.parametrize("make", LIBRARIES, ids=[make.__name__ for make in LIBRARIES])
def test_shapes_tell_a_network_whose_names_say_nothing(make, tmp_path):
    network, tensors = make()
    given, said = values(saved(tmp_path, tensors))
    assert_same(given, answers(network))
    assert "follows from its tensors' shapes alone, and is played with DQN's strides, no padding, only" in said
    assert "--set network=file.py:Class" in said


@pytest.mark.parametrize("name", ["obs_rms", "normalizer"])
def test_statistics_of_screens_beside_a_network_are_not_passed_over(tmp_path, name):
    of_screens = {name: {"mean": np.zeros((4, 84, 84)), "var": np.ones((4, 84, 84)), "count": 1.0}}
    of_rewards = {name: {"mean": np.zeros(1), "var": np.ones(1)}}
    agent = {"agent": QNetwork().state_dict(), "args": {"exp_name": "dqn_atari"}}
    assert not values(saved(tmp_path, agent | of_rewards))[1]
    for shape in ((4, 84, 84), (84, 84, 4), (1, 84, 84), (4 * 84 * 84,)):
        of_screens[name]["mean"] = np.zeros(shape)
        said = values(saved(tmp_path, agent | of_screens))[1]
        assert f"not normalised by the statistics in the file, '{name}.mean'" in said


def each(numbers, count):
    """Return a head's numbers as those of each action."""
    return numbers.unflatten(1, (-1, count))


ATOMS = torch.linspace(-2, 3, 5)
HEADS = {
    "C51": lambda advantage, value: (each(advantage, 5).softmax(2) * ATOMS).sum(2),
    "Rainbow": lambda advantage, value: (
        (each(advantage, 5) - each(advantage, 5).mean(1, keepdim=True) + each(value, 5)).softmax(2) * ATOMS
    ).sum(2),
    "QR-DQN": lambda advantage, value: each(advantage, 5).mean(2),
}


@pytest.mark.parametrize("settings", [{}, {"atoms": 5}], ids=["in the file", "given"])
@pytest.mark.parametrize("names", [("Q.0", "Q.2", "V.0", "V.2"), ("fc_h_a", "fc_z_a", "fc_h_v", "fc_z_v")])
@pytest.mark.parametrize("kind", HEADS)
def test_a_distribution_of_each_action_is_played(kind, names, settings, tmp_path):
    """Tianshou keeps the values of atoms beside the network, others do not; they change no choice of actions."""
    sizes = ((392, 16), (16, 5 * ACTIONS), (392, 16), (16, 5))
    dense = [nn.Linear(*size) for size in sizes][: 4 if kind == "Rainbow" else 2]
    eyes = nn.Sequential(*layers(outputs=0)[:7])
    seeded(nn.ModuleList([eyes, *dense]))
    for layer in dense[1::2]:
        layer.weight.data *= 0.2  # no atom takes it all
    tensors = renamed(eyes, "eyes.{name}")
    for name, layer in zip(names, dense, strict=False):
        tensors |= renamed(layer, f"{name}.{{name}}")
    streams = [nn.Sequential(dense[i], nn.ReLU(), dense[i + 1]) for i in range(0, len(dense), 2)]
    with torch.inference_mode():
        seen = eyes(torch.from_numpy(observations()) / 255)
        expected = HEADS[kind](streams[0](seen), streams[-1](seen))
    if kind == "QR-DQN":
        settings = {name.replace("atoms", "quantiles"): number for name, number in settings.items()}
    beside = ("tau_hat", ((torch.arange(5) + 0.5) / 5).view(1, 5, 1)) if kind == "QR-DQN" else ("support", ATOMS)
    path = saved(tmp_path, tensors | ({} if settings else dict([beside])))
    given, said = values(path, **settings)
    assert f"'{names[1]}' as 5 {'quantiles' if kind == 'QR-DQN' else 'atoms'} of an action, then those" in said
    if settings and kind != "QR-DQN":  # the atoms are not ATOMS
        expected = -10 + 20 * (expected + 2) / 5
    assert_same(given, expected)
    with pytest.raises(ArcadeMarkError, match="deterministic=false changes nothing"):
        CheckpointPlayer(PONG, path, "", deterministic=False, **settings)


def test_cleanrls_rainbow_is_played(tmp_path):
    """Its heads are noisy, and the values of its atoms lie beside them."""
    eyes = nn.Sequential(*layers(outputs=0)[:7])
    streams = [nn.Sequential(nn.Linear(392, 16), nn.ReLU(), nn.Linear(16, 5 * n)) for n in (ACTIONS, 1)]
    seeded(nn.ModuleList([eyes, *streams]))
    tensors = renamed(eyes, "network.{name}") | {"support": ATOMS}
    for name, stream in zip(("advantage_head", "value_head"), streams, strict=True):
        stream[2].weight.data *= 0.2
        for key, value in stream.state_dict().items():
            tensors |= {f"{name}.{key}_mu": value, f"{name}.{key}_sigma": value, f"{name}.{key}_epsilon": value}
    given, said = values(saved(tmp_path, tensors, "network.cleanrl_model"))
    with torch.inference_mode():
        seen = eyes(torch.from_numpy(observations()) / 255)
        assert_same(given, HEADS["Rainbow"](streams[0](seen), streams[1](seen)))
    assert not said
    with refused("changes nothing: its file has them in 'support'"):
        values(tmp_path / "network.cleanrl_model", atoms=5)


@pytest.mark.parametrize("library", ["CleanRL", "Dopamine"])
def test_a_distribution_of_flax_is_played(library, tmp_path):
    """CleanRL's C51 keeps its settings; Dopamine's Rainbow has the names of its DQN and quantile network."""
    network = padded(16, features=8 * 11 * 11)
    network[-1] = seeded(nn.Linear(16, 5 * ACTIONS))
    tree, range_ = flax_tree(network), {"exp_name": "c51_atari_jax", "n_atoms": 5, "v_min": -2, "v_max": 3}
    content = {"0": range_, "1": tree} if library == "CleanRL" else {"online_params": tree}
    path = tmp_path / "network"
    path.write_bytes(packed(content) if library == "CleanRL" else pickle.dumps(content))
    expected = HEADS["C51"](answers(network), None)
    if library == "Dopamine":
        with refused("add --set atoms=5 "):
            values(path)
        with refused("gives 30 numbers, which are not 1000000000000 for each action"):
            values(path, atoms=10**12)
        assert_same(values(path, atoms=5)[0], -10 + 20 * (expected + 2) / 5)
        expected = HEADS["QR-DQN"](answers(network), None)
    assert_same(values(path, **({"quantiles": 5} if library == "Dopamine" else {}))[0], expected)


def test_a_distribution_that_a_file_leaves_open_is_asked_about(tmp_path):
    parts = [*layers(16, outputs=5 * ACTIONS)]
    body = renamed(seeded(nn.Sequential(*parts)), "body.{name}")
    with refused(f"if these are 5 for each of {ACTIONS} actions, add --set atoms=5 .* or --set quantiles=5 "):
        values(saved(tmp_path, body))
    with refused("--set atoms and --set quantiles exclude each other"):
        values(saved(tmp_path, body), atoms=5, quantiles=5)
    with refused("gives 30 numbers, which are not 7 for each action"):
        values(saved(tmp_path, body), atoms=7)
    with refused("--set quantiles=5 changes nothing: its file has them in 'support'"):
        values(saved(tmp_path, body | {"support": ATOMS}), quantiles=5)
    with refused("'atoms', 'support' may be the atoms of several distributions"):
        values(saved(tmp_path, body | {"atoms": ATOMS + 1, "support": ATOMS}))
    with refused("unknown layers: 'support'"):
        values(saved(tmp_path, body | {"support": ATOMS**3}), atoms=5)
    network = {f"network.{name.removeprefix('body.')}": value for name, value in body.items()}
    assert_same(
        values(saved(tmp_path, network), atoms=5)[0], torch.from_numpy(values(saved(tmp_path, body), atoms=5)[0])
    )


NOISY = {
    "CleanRL, TorchRL": ("weight_mu", "bias_mu", "weight_sigma", "bias_sigma", "weight_epsilon", "bias_epsilon"),
    "Tianshou": ("mu_W", "mu_bias", "sigma_W", "sigma_bias", "eps_p", "eps_q"),
    "others": ("mu_weight", "mu_bias", "sigma_weight", "sigma_bias", "noise_in", "eps_out"),
    "fqf-iqn-qrdqn": ("weight_mu", "bias_mu", "weight_std", "bias_std", "sample_weight_in", "sample_bias_out"),
    "lightning-bolts": ("weight", "bias", "sigma_weight", "sigma_bias", "epsilon_weight", "epsilon_bias"),
}


@pytest.mark.parametrize("names", NOISY.values(), ids=NOISY)
def test_noisy_layers_are_played_without_their_noise(names, tmp_path):
    network, tensors = named()
    for layer in ("fc1", "fc2"):
        weight, bias = tensors.pop(f"{layer}.weight"), tensors.pop(f"{layer}.bias")
        tensors |= {f"{layer}.{name}": torch.ones_like(weight if "eight" in name else bias) for name in names}
        tensors |= {f"{layer}.{names[0]}": weight, f"{layer}.{names[1]}": bias}
    given, said = values(saved(tmp_path, tensors))
    assert_same(given, answers(network))
    assert "'fc1' without its noise, 'fc2' without its noise, only relu" in said
    for odd in ("rho_W", "mu_W" if names[0] == "weight" else "weight"):  # a Bayesian layer, and one with two means
        with refused("its network"):
            values(saved(tmp_path, tensors | {f"fc2.{odd}": torch.ones(ACTIONS, 16)}))


@pytest.mark.parametrize("names", ["model.net.{name}", "actor.preprocess.net.{name}", "policy.model.net.{name}"])
def test_tianshous_networks_without_a_scale_are_asked_about(names, tmp_path):
    """Its examples leave screens as they are; scaling them shows in the names of its later versions alone."""
    network, _ = tianshou()
    path = saved(tmp_path, renamed(network, names))
    with refused("do not show whether its screens were divided by 255; add --set scale=255 .*, else --set scale=1"):
        values(path)
    for scale in (1.0, 255.0):
        np.testing.assert_allclose(values(path, scale=scale)[0], answers(network, scale=scale), rtol=1e-4)


def test_an_activation_is_asked_about_where_a_library_has_another(tmp_path):
    """``DuelingCnnDQNet.state_dict()`` of TorchRL 0.14, with ELU; networks with ReLU have its names, too."""
    network, tensors = dueling()
    path = saved(tmp_path, {name.replace("eyes.", "features."): value for name, value in tensors.items()})
    with refused("have the names of TorchRL's DuelingCnnDQNet.* add --set activation=elu or --set activation=relu"):
        values(path)
    assert_same(values(path, activation="relu")[0], answers(network))


def test_a_padding_that_changes_no_shape_is_asked_about_where_a_library_has_both(tmp_path):
    tensors = named()[1] | {"fc_h_v.weight": torch.ones(16, 392), "fc_z_v.weight": torch.ones(1, 16)}
    with refused("its first convolution is padded in early versions of Kaixhin's Rainbow, in others not"):
        values(saved(tmp_path, tensors))


def test_a_second_layer_with_a_number_for_each_action_is_refused(tmp_path):
    """Tianshou's actor on a whole DQN of its own has no activation between the two."""
    network = seeded(nn.Sequential(*layers(16), nn.Linear(ACTIONS, ACTIONS)))
    with refused("'body.9', before 'body.10', gives a number for each action, too, so that it may have no activation"):
        values(saved(tmp_path, renamed(network, "body.{name}")))


@pytest.mark.parametrize(
    ("library", "names"),
    [
        ("rl_games", ("a2c_network.actor_cnn", "a2c_network.actor_mlp", "a2c_network.logits")),
        ("skrl", ("features_extractor_container", "net_container", "policy_layer")),
    ],
)
def test_an_activation_that_a_librarys_configuration_sets_is_asked_about(library, names, tmp_path):
    """As in rl_games' configurations for Pong (ELU) and Breakout (ReLU)."""
    parts = layers(16, activation=nn.ELU)
    network = seeded(nn.Sequential(*parts))
    tensors = renamed(network[:6], f"{names[0]}.{{name}}") | renamed(network[7], f"{names[1]}.0.{{name}}")
    tensors |= renamed(network[9], f"{names[2]}.{{name}}")
    path = saved(tmp_path, {"model": tensors, "epoch": 1})
    with refused(f"have the names of {library}('|'s) networks, .* add --set activation=elu or --set activation=relu"):
        values(path)
    assert_same(values(path, activation="elu")[0], answers(network))


OTHER_EYES = {
    "stride 1 of a kernel of 4 (random-network-distillation-pytorch)": ((8, 4, 4), (4, 2, 1), (0, 0, 0)),
    "padding of 2, 2 and 1": ((8, 4, 3), (4, 2, 1), (2, 2, 1)),
    "padding of 0, 1 and 1 (rlpyt)": ((8, 4, 3), (4, 2, 1), (0, 1, 1)),
    "padding of 1 and 2 (the first version of Kaixhin's Rainbow)": ((8, 4), (4, 2), (1, 2)),
}


@pytest.mark.parametrize(("kernels", "strides", "paddings"), OTHER_EYES.values(), ids=OTHER_EYES)
def test_padding_of_tensorflow_is_not_assumed_of_pytorchs_networks(kernels, strides, paddings, tmp_path):
    """Their features are as many as those of DQN's convolutions with that padding, for screens of some size."""
    parts, channels = [], 4
    for kernel, stride, padding in zip(kernels, strides, paddings, strict=True):
        parts += [nn.Conv2d(channels, 8, kernel, stride, padding), nn.ReLU()]
        channels = 8
    features = nn.Sequential(*parts)(torch.zeros(1, 4, 84, 84)).numel()
    network = nn.Sequential(*parts, *layers(16, features=features)[6:])
    with refused("no layer gives the inputs of 'body"):
        values(saved(tmp_path, renamed(network, "body.{name}")))


def test_a_pooling_over_all_places_is_no_size_of_screens(tmp_path):
    """XuanCe's ``Basic_CNN``, whose features are those of screens of 42 x 42, too."""
    body = renamed(nn.Sequential(*layers(outputs=0)[:6], nn.AdaptiveMaxPool2d(1), nn.Flatten()), "eyes.{name}")
    with refused("no layer gives the inputs of 'head.0'"):
        values(saved(tmp_path, body | renamed(nn.Sequential(*layers(16, features=8)[7:]), "head.{name}")))


def test_a_size_that_only_follows_from_assumed_strides_is_noted(tmp_path):
    """A last stride of 2 for screens of 84 x 84 gives as many features as one of 1 for 64 x 64."""
    parts = layers(16, features=8 * 4 * 4)
    parts[4] = nn.Conv2d(8, 8, 3, 2)
    path = saved(tmp_path, renamed(nn.Sequential(*parts), "body.{name}"))
    with refused("screen_size=64x64; its network follows .* with DQN's strides, no padding, .* name the module"):
        check("mine", [(path, PONG)], {})


@pytest.mark.parametrize("kind", ["QR-DQN", "C51", "Rainbow"])
def test_a_head_may_give_a_number_of_all_actions_before_the_next(kind, tmp_path):
    """QR-DQN of fqf-iqn-qrdqn.pytorch and of deep_rl_zoo."""
    network = seeded(nn.Sequential(*layers(16, outputs=5 * ACTIONS)))
    value = seeded(nn.Linear(16, 5), 2)
    network[-1].weight.data *= 0.2
    tensors = renamed(network[:-1], "body.{name}") | renamed(network[-1], "advantage.{name}")
    tensors |= renamed(value, "value.{name}") if kind == "Rainbow" else {}
    with torch.inference_mode():
        seen = network[:-1](torch.from_numpy(observations()) / 255)
        expected = HEADS[kind](network[-1](seen).unflatten(1, (5, -1)).mT.flatten(1), value(seen))
    settings = {"quantiles" if kind == "QR-DQN" else "atoms": 5}
    path = saved(tmp_path, tensors)
    given, said = values(path, **settings, actions_last=True)
    assert_same(given, expected if kind == "QR-DQN" else -10 + 20 * (expected + 2) / 5)
    assert f"the outputs of 'advantage' as one of all actions' 5 {next(iter(settings))}, then the next" in said
    assert "(else add --set actions_last=true)" in values(path, **settings)[1]


@pytest.mark.parametrize("name", ["network", "body"])
def test_an_order_of_one_number_for_each_action_is_refused(name, tmp_path):
    with refused("--set actions_last=true changes nothing: its head gives each action one number"):
        values(saved(tmp_path, renamed(nn.Sequential(*layers(16)), f"{name}.{{name}}")), actions_last=True)


@pytest.mark.needs("safetensors")
@pytest.mark.parametrize("separator", [".", ",", "/"])
def test_safetensors_of_flax_are_played(separator, tmp_path):
    """purejaxql joins names by commas, others by slashes."""
    from safetensors.numpy import save

    network = padded(16, features=8 * 11 * 11)
    layers_of = flax_tree(network)["params"].items()
    named = {f"{name}{separator}{key}": array for name, layer in layers_of for key, array in layer.items()}
    (tmp_path / "network.safetensors").write_bytes(save(named))
    given, said = values(tmp_path / "network.safetensors")
    assert_same(given, answers(network))
    assert "with DQN's strides, padding as in TensorFlow, only" in said


@pytest.mark.needs("safetensors")
def test_the_order_of_safetensors_is_that_of_their_names(tmp_path):
    """The file has no order of its own, so only numbers tell the order of convolutions."""
    from safetensors.torch import save

    network, tensors = named()
    (tmp_path / "network.safetensors").write_bytes(save(tensors))
    assert_same(values(tmp_path / "network.safetensors")[0], answers(network))
    words = {"conv1": "far", "conv2": "middle", "conv3": "near"}
    worded = {f"{words.get(name, name)}.{key}": v for n, v in tensors.items() for name, key in [n.split(".")]}
    (tmp_path / "network.safetensors").write_bytes(save(worded))
    with refused(r"its file leaves the order of its convolutions \(far, middle, near\) open"):
        values(tmp_path / "network.safetensors")


def test_what_shapes_do_not_tell_can_be_set(tmp_path):
    parts = layers(16, activation=nn.Tanh)
    network = seeded(nn.Sequential(*parts))
    path = saved(tmp_path, renamed(network, "body.{name}"))
    given, _ = values(path, activation="tanh", scale=64.0)
    assert_same(given, answers(network, scale=64.0))


@pytest.mark.parametrize(
    ("head", "gives"),
    [("fc", None), ("policy_head", True), ("logits", True), ("q_head", False), ("qf", False), ("advantage", False)],
)
def test_actions_are_drawn_where_a_head_may_give_a_distribution(head, gives, tmp_path):
    names = {"eyes": nn.Sequential(*layers(16, outputs=0)), head: nn.Linear(16, ACTIONS)}
    tensors = seeded(nn.ModuleDict(names)).state_dict()
    tensors[f"{head}.weight"] *= 0.01
    path = saved(tmp_path, tensors)
    if gives is False:
        with pytest.raises(ArcadeMarkError, match=r"deterministic=false changes nothing.* --set epsilon=0.05"):
            CheckpointPlayer(PONG, path, "", deterministic=False)
        return
    player, rngs = CheckpointPlayer(PONG, path, "", deterministic=False), map(np.random.default_rng, range(64))
    drawn = player.act(np.repeat(observations(1), 64, axis=0), np.ones(64, np.bool_), [*rngs])
    assert len({*drawn.tolist()}) > 1
    assert ("logits of a distribution, as --set deterministic=false requires" in player.assumed) == (gives is None)
    assert "deterministic" not in CheckpointPlayer(PONG, path, "").assumed


@pytest.mark.parametrize(
    ("trained", "draws"), [("ppo_atari_envpool_xla_jax", True), ("dqn_atari_jax", False), ("mine", None)]
)
def test_cleanrl_on_jax_says_by_its_name_whether_actions_are_drawn(trained, draws, tmp_path):
    tree = flax_tree(padded(16, features=8 * 11 * 11))
    (tmp_path / "network.msgpack").write_bytes(packed({"0": {"exp_name": trained}, "1": tree}))
    if draws is False:
        with pytest.raises(ArcadeMarkError, match="deterministic=false changes nothing"):
            CheckpointPlayer(PONG, tmp_path / "network.msgpack", "", deterministic=False)
    else:
        player = CheckpointPlayer(PONG, tmp_path / "network.msgpack", "", deterministic=False)
        assert player.draws
        assert bool(player.assumed) == (draws is None)


def test_modules_of_rllib_see_screens_as_its_wrappers_scale_them(tmp_path):
    """``DefaultPPOTorchRLModule.state_dict()`` of Ray 2.5x, with an encoder for each of its heads."""
    actor, critic = (padded(16, features=8 * 16, kernels=[(4, 2)] * 4) for _ in range(2))
    tensors = {"pi.log_std_clip_param_const": torch.zeros(1)}
    for network, encoder, head in ((actor, "actor", "pi"), (critic, "critic", "vf")):
        for i in range(4):
            of_layer = network[3 * i + 1]
            tensors |= renamed(of_layer, f"encoder.{encoder}_encoder.net.0.cnn.{3 * i + 1}.{{name}}")
        tensors |= renamed(network[13], f"{head}.net.mlp.0.{{name}}")
        tensors |= renamed(network[15] if head == "pi" else nn.Linear(16, 1), f"{head}.net.mlp.2.{{name}}")
    given, _ = values(saved(tmp_path, tensors), SMALL)
    with torch.inference_mode():
        assert_same(given, actor(torch.from_numpy(observations(size=64)) / 128 - 1))


def test_cleanrls_ppo_on_jax_gives_a_distribution(tmp_path):
    """``ppo_atari_envpool_xla_jax_scan.py``: its arguments, and the parameters of body, actor and critic."""
    network = padded(16, features=8 * 11 * 11)
    body = flax_tree(network)["params"]
    actor, critic = ({"params": {"Dense_0": body["Dense_1"]}}, {"params": {"Dense_0": body.pop("Dense_1")}})
    critic["params"]["Dense_0"] = {name: array[..., :1].copy() for name, array in critic["params"]["Dense_0"].items()}
    parts = {str(i): tree for i, tree in enumerate(({"params": body}, actor, critic))}
    content = {"0": {"exp_name": "ppo_atari_envpool_xla_jax_scan", "seed": 1}, "1": parts}
    (tmp_path / "ppo.cleanrl_model").write_bytes(packed(content))
    assert_same(values(tmp_path / "ppo.cleanrl_model")[0], answers(network))
    player = CheckpointPlayer(PONG, tmp_path / "ppo.cleanrl_model", "", deterministic=False)
    assert player.draws
    assert player._network.stochastic


@pytest.mark.parametrize("settings", [{"encoder_conv_architecture": "convnet_simple"}, None])
def test_sample_factorys_default_convolutions_have_strides_of_their_own(settings, tmp_path):
    """``convnet_simple``, whose last convolution has 128 channels and the stride 2."""
    parts = [nn.Conv2d(4, 8, 8, 4), nn.ReLU(), nn.Conv2d(8, 8, 4, 2), nn.ReLU(), nn.Conv2d(8, 128, 3, 2), nn.ReLU()]
    parts += [nn.Flatten(), nn.Linear(128 * 4 * 4, 16), nn.ReLU(), nn.Linear(16, ACTIONS)]
    network = seeded(nn.Sequential(*parts))
    names = {7: "encoder.encoders.obs.enc.mlp_layers.0", 9: "action_parameterization.distribution_linear"}
    tensors = {
        f"{names.get(int(number), f'encoder.encoders.obs.enc.conv_head.{number}')}.{name}": value
        for key, value in network.state_dict().items()
        for number, name in [key.split(".")]
    }
    if settings:
        (tmp_path / "config.json").write_text(json.dumps(settings))
    assert_same(values(saved(tmp_path, {"model": tensors, "train_step": 8, "env_steps": 4096}))[0], answers(network))


def test_a_layer_beside_the_one_that_takes_the_screens_is_no_guess(tmp_path):
    """An implicit quantile network of Dopamine's, whose first layer takes quantiles, not screens."""
    tree = flax_tree(padded(8 * 11 * 11, 16, features=8))  # 8 features are those of screens of 42 x 42, not padded
    (tmp_path / "network.msgpack").write_bytes(packed(tree))
    with pytest.raises(ArcadeMarkError, match=r"no layer gives the inputs of 'params.Dense_0'"):
        values(tmp_path / "network.msgpack")


def test_a_part_is_played_alone_only_where_all_beside_it_is_known(tmp_path):
    """Names before a dot may be of modules: what stands beside the layers may belong to the network."""
    tensors = QNetwork().state_dict()
    for name in ("attention.weight", "gate", "after.0.weight"):
        with refused("unknown layers"):
            values(saved(tmp_path, tensors | {name: torch.zeros(3, 3)}))
        assert values(saved(tmp_path, {"agent": tensors, "beside": {name: torch.zeros(3, 3)}}))
    with refused("the tensors are"):
        values(saved(tmp_path, renamed(QNetwork(), "q.{name}") | {"embedding.weight": torch.zeros(3, 3)}))


AMBIGUOUS = {
    "an unknown layer": lambda tensors: tensors | {"attention.weight": torch.zeros(3, 3)},
    "a normalisation": lambda tensors: tensors | {"norm.weight": torch.ones(16), "norm.bias": torch.zeros(16)},
    "two heads of actions": lambda tensors: tensors | {"fc3.weight": torch.zeros(4, 16), "fc3.bias": torch.zeros(4)},
    "a distribution": lambda tensors: tensors | {"fc2.weight": torch.zeros(51 * 6, 16), "fc2.bias": torch.zeros(306)},
    "no convolution": lambda tensors: {"fc1.weight": torch.zeros(6, 4), "fc1.bias": torch.zeros(6)},
    "another kernel": lambda tensors: tensors | {"conv1.weight": torch.zeros(8, 4, 5, 5)},
    "a loose end": lambda tensors: tensors | {"fc1.weight": torch.zeros(16, 390)},
}


@pytest.mark.parametrize("kind", AMBIGUOUS)
def test_what_shapes_do_not_tell_is_refused_with_the_tensors_and_the_remedy(kind, tmp_path):
    tensors = AMBIGUOUS[kind](named()[1])
    with refused(
        rf"the tensors are {next(iter(tensors)).replace('.', '[.]')} \(.*name the module: --set network=file\.py:Class"
    ):
        values(saved(tmp_path, tensors))


def test_layers_that_could_follow_each_other_in_two_ways_are_refused(tmp_path):
    """The actor's first layer takes what the trunk gives and what the critic's gives: shapes cannot tell which."""
    sizes = {"fc1": (392, 16), "fc_v1": (16, 16), "fc_v2": (16, 1), "fc_pi1": (16, 16), "fc_pi2": (16, ACTIONS)}
    dense = nn.ModuleDict({name: nn.Linear(*size) for name, size in sizes.items()})
    tensors = {name: value for name, value in named()[1].items() if "conv" in name} | dense.state_dict()
    with refused("does not follow from its tensors' shapes"):
        values(saved(tmp_path, tensors))


@pytest.mark.parametrize("beside", [{}, {"fc_v1": (392, 16), "fc_v2": (16, 1)}])
def test_an_actors_layer_is_not_left_out_because_of_its_name(beside, tmp_path):
    """Of layers named by words the order of names is none: 'adv' begins 'adv_first', which feeds it."""
    sizes = {"trunk": (392, 16), "adv_first": (16, 16), "adv": (16, ACTIONS), "val": (16, 1)} | beside
    dense = nn.ModuleDict({name: nn.Linear(*size) for name, size in sizes.items()})
    tensors = {name: value for name, value in named()[1].items() if "conv" in name} | dense.state_dict()
    with refused("its network does not follow from its tensors' shapes: [2-9] layers give the inputs of"):
        values(saved(tmp_path, tensors))


def test_an_actors_layer_that_only_the_critic_could_take_is_refused(tmp_path):
    sizes = {"pi_fc1": (16, 16), "pi2": (16, ACTIONS), "v": (16, 1)}
    dense = nn.ModuleDict({name: nn.Linear(*size) for name, size in sizes.items()})
    eyes = nn.Sequential(*layers(16, outputs=0))
    with refused("its tensors' shapes: 'pi_fc1' is not on the way to 'pi2'"):
        values(saved(tmp_path, renamed(eyes, "eyes.{name}") | dense.state_dict()))


def eyes_and(**sizes):
    """Tensors of `named`'s convolutions and of layers of these sizes, outputs before inputs."""
    eyes = {name: value for name, value in named()[1].items() if "conv" in name}
    return eyes | {f"{name.replace('__', '.')}.weight": torch.zeros(size) for name, size in sizes.items()}


def test_layers_in_a_ring_or_too_many_are_refused(tmp_path):
    with refused("its layers form a cycle"):
        values(saved(tmp_path, eyes_and(actor_a__fc=(500, 500), trunk__fc=(500, 500), actor_h__out=(ACTIONS, 500))))
    row = {f"fc__{i}": (16, 16) for i in range(1, 196)}
    assert values(saved(tmp_path, eyes_and(fc__0=(16, 392), **row, fc__196=(ACTIONS, 16))))
    with refused("its network has more than 200 layers"):
        values(saved(tmp_path, eyes_and(fc__0=(16, 392), **row, fc__196=(16, 16), fc__197=(ACTIONS, 16))))


@pytest.mark.parametrize("name", ["h", "conv", "fc"])
def test_a_number_hides_no_layer_whose_name_begins_like_its_own(name, tmp_path):
    network, tensors = named()
    tensors = {key.replace("fc1", "hidden"): value for key, value in tensors.items()} | {name: torch.tensor(1.0)}
    assert_same(values(saved(tmp_path, tensors))[0], answers(network))


def test_what_lies_within_a_layer_that_is_left_out_is_not_left_out(tmp_path):
    value = {"fc_v.weight": torch.zeros(1, 16), "fc_v.bias": torch.zeros(1)}
    assert_same(values(saved(tmp_path, named()[1] | value))[0], answers(named()[0]))
    with refused(r"unknown layers: 'fc_v\.mix\.gate'"):
        values(saved(tmp_path, named()[1] | value | {"fc_v.mix.gate": torch.ones(3)}))
