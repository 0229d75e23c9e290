"""A report as the card of a model: metadata that the Hub shows, the report, and how to verify it."""

import json

import arcademark


def head(path):
    start, metadata, body = path.read_text().split("---\n", 2)
    assert not start
    return {key: json.loads(value) for key, _, value in (line.partition(": ") for line in metadata.splitlines())}, body


def test_report_is_written_as_the_card_of_a_model(tmp_path, monkeypatch, invoke):
    monkeypatch.chdir(tmp_path)
    rules = arcademark.protocol("dqn-2015").override({"max_frames_per_episode": 200})
    result = arcademark.run("random", ["pong", "space_invaders"], rules, episodes=3, workers=1, out="runs/mine")
    invoke("report", "runs/mine", "--save", "README.md")
    metadata, body = head(tmp_path / "README.md")
    (model,) = metadata["model-index"]
    assert model["name"] == "random"
    first = model["results"][1]
    assert first["dataset"]["type"] == "ALE/SpaceInvaders-v5"
    assert "dqn-2015" in first["dataset"]["name"]
    (metric,) = first["metrics"]
    score = next(one for one in result.algorithms[0].scores if one.game == "space_invaders")
    assert (metric["type"], metric["value"], metric["verified"]) == ("mean_reward", score.score.value, False)
    assert "3 episodes" in metric["name"]
    assert "arcademark verify runs/mine" in body
    assert "| Space Invaders |" in body
    written = (tmp_path / "README.md").read_text()
    result.save("README.md")
    assert head(tmp_path / "README.md")[0] == metadata
    assert written.startswith("---")
    invoke("report", "runs/mine", "--save", "README.md")  # an earlier card is replaced
    (tmp_path / "README.md").write_text("---\nmine\n---\n")
    invoke("report", "runs/mine", "--save", "README.md", code=2)  # nothing else is


def test_scores_of_a_table_say_that_they_cannot_be_replayed(tmp_path, monkeypatch, invoke):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.csv").write_text("algorithm,game,score\nmine,pong,19.5\nmine,qbert,12000\n")
    invoke("report", "mine.csv", "--save", "README.md")
    metadata, body = head(tmp_path / "README.md")
    assert [one["metrics"][0]["value"] for one in metadata["model-index"][0]["results"]] == [19.5, 12000]
    assert "cannot be replayed" in body


def test_a_card_of_other_tasks_is_not_of_atari(tmp_path, monkeypatch, invoke):
    monkeypatch.chdir(tmp_path)
    suite = "gymnasium:CartPole-v1"
    arcademark.run("random", suite=suite, episodes=3, workers=1, out="runs/poles")
    invoke("report", "runs/poles", "--save", "README.md")
    metadata, body = head(tmp_path / "README.md")
    (result,) = metadata["model-index"][0]["results"]
    assert "atari" not in metadata["tags"]
    assert "ALE" not in result["dataset"]["type"]
    assert "ale-py" not in body
