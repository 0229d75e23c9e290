"""Runs of planners with an episode that is not finished."""

from arcademark.records.model import Unfinished
from arcademark.runs.playing.trial import TrialPlayer
from arcademark.runs.store.recording import Recorder


def keep(plan, directory, episode=0, frames=-1, emulator=None, emulators=()):
    """Have an episode of a run's only trial be unfinished, after more frames than these; return what is kept of it."""
    (trial,) = plan.trials
    player = TrialPlayer(trial, emulator)
    player.agent.checkpoint_seconds = 1e-9
    kept = next(item for item in player.play([episode]) if isinstance(item, Unfinished) and item.frames > frames)
    with Recorder(directory, dict(emulators)) as recorder, recorder.transaction():
        recorder.database.execute("DELETE FROM episode WHERE episode = ?", (episode,))
        recorder.keep_episode(trial.id, kept)
    return kept
