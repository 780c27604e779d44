"""A MyAgent client written from the protocol's document alone. It runs every exchange of the document.

usage: myagent_client.py URL

The server's agent must run agent.script. Each exchange prints "ok NAME"; the first deviation is an error.
"""

import hashlib
import json
import sys
import time
from datetime import datetime

import ws

URL = sys.argv[1]


class Client:
    def __init__(self):
        self.sock = ws.connect(URL)
        self.seen, self.last, self.session = [], 0, None
        self.hello = self.until("system.connected")

    def send(self, event, content=None, session=True, **fields):
        frame = dict({"event": event, "timestamp": datetime.now().isoformat()}, **fields)
        if content is not None:
            frame["content"] = content
        if session and self.session:
            frame["session_id"] = self.session
        self.sock.send(json.dumps(frame))

    def next(self, timeout=20):
        f = json.loads(self.sock.recv(timeout))
        assert isinstance(f["event"], str) and "." in f["event"], f
        datetime.fromisoformat(f["timestamp"].replace("Z", "+00:00"))
        assert isinstance(f.get("content", ""), (str, dict, type(None))), f
        assert isinstance(f.get("metadata", {}), dict), f
        assert isinstance(f.get("show_content", ""), str), f
        assert f["seq"] == self.last + 1, (self.last, f)
        assert f["event"].startswith("system.") or f["event"].startswith("agent.error") or f.get("session_id"), f
        self.last = f["seq"]
        self.seen.append(f)
        return f

    def until(self, event, **meta):
        """Returns the next frame of that event with that metadata."""
        while True:
            f = self.next()
            if f["event"] == event and all(f.get("metadata", {}).get(k) == v for k, v in meta.items()):
                return f

    def create(self):
        self.send("user.create_session", "报告", session=False)
        self.session = self.until("agent.session_created")["session_id"]

    def turn(self, text):
        """Returns the frames of a turn up to its end."""
        self.send("user.message", text)
        return self.rest()

    def rest(self):
        at = len(self.seen)
        while self.next()["event"] not in ("agent.final_answer", "agent.error", "agent.timeout", "agent.interrupted"):
            pass
        return self.seen[at:]


def events(frames):
    return [f["event"] for f in frames if f["event"] != "system.notice"]


def joined(frames):
    return "".join(f["content"] for f in frames if f["event"] == "agent.partial_answer")


def in_order(frames, *want):
    """Reports whether the events come in that order, possibly with others between."""
    rest = iter(events(frames))
    for w in want:
        assert w in rest, f"no {w} in its place: {events(frames)}"


def greeting(c):
    assert c.seen[0]["event"] == "system.connected" and c.seen[0]["seq"] == 1
    content = c.hello["content"]
    assert content["server_version"] and isinstance(content["capabilities"], list)


def answer(c):
    frames = c.turn("plain")
    in_order(frames, "agent.thinking", "agent.partial_answer", "agent.final_answer")
    assert joined(frames) == frames[-1]["content"] == "你好, 世界 😀", frames
    c.send("user.ack", seq=c.last)
    c.send("user.ack", {"last_seq": c.last})
    c.send("user.ack", c.last)


def tool(c):
    frames = c.turn("tool")
    call = next(f for f in frames if f["event"] == "agent.tool_call")
    done = next(f for f in frames if f["event"] == "agent.tool_result")
    assert call["metadata"]["tool"] == "shell" and call["metadata"]["args"] == {"command": "ls", "n": 1e16, "m": -0.0, "o": 1.0}, call
    assert call["metadata"]["params"] == call["metadata"]["args"] and call["metadata"]["status"] == "running"
    assert done["step_id"] == call["step_id"] and done["metadata"]["status"] == "success" and "a b" in done["content"], done


def decide(c):
    for content, end in (
        ({"approved": True}, "Removed it."), ({"confirmed": True}, "Removed it."), ({"approved": True, "confirmed": True}, "Removed it."),
        ({"approved": False}, "Kept it."), ({"confirmed": False, "reason": "不行"}, "Kept it."), ({"approved": True, "confirmed": False}, "Kept it."),
    ):
        c.send("user.message", "ask")
        request = c.until("agent.user_confirm")
        assert request["step_id"] and request["metadata"]["tool_name"], request
        c.send("user.response", content, step_id="another")
        assert c.until("system.notice", ok=False)["step_id"] == "another"  # no agent.error, which ends a turn
        c.send("user.response", content, step_id=request["step_id"])
        assert c.rest()[-1]["content"].endswith(end), (content, c.seen[-1])
    c.send("user.response", {"approved": True}, step_id=request["step_id"])
    assert "denied" in c.until("system.notice", ok=False)["content"], c.seen[-1]


def plan(c):
    c.send("user.message", "plan")
    request = c.until("agent.user_confirm")
    m = request["metadata"]
    assert m["scope"] == "plan" and m["task_count"] == 3 and m["plan_summary"] == "three", m
    assert [t["id"] for t in m["tasks"]] == [1, 2, 3] and m["tasks"][0]["title"] == "生成PPT", m
    assert request["show_content"] == "请确认规划（3 个任务）：生成PPT、优化样式、导出文件"
    c.send("user.response", {"approved": True, "confirmed": True, "tasks": m["tasks"][:2]}, step_id=request["step_id"])
    frames = c.rest()
    in_order(
        c.seen, "plan.start", "agent.user_confirm", "plan.completed", "solver.start", "agent.tool_call", "agent.tool_result", "solver.completed",
        "solver.start", "solver.completed", "aggregate.start", "aggregate.completed", "pipeline.completed", "agent.final_answer",
    )
    done = next(f for f in frames if f["event"] == "plan.completed")
    assert done["show_content"] == "规划完成（2 个任务）" and len(done["content"]["tasks"]) == done["metadata"]["task_count"] == 2, done
    solved = next(f for f in frames if f["event"] == "solver.completed")
    assert solved["content"]["task"]["id"] == 1 and solved["content"]["result"]["output"] == {"slides": 5} and "execution_time_ms" in solved["metadata"], solved
    assert solved["show_content"] == "求解完成：生成PPT"
    call = next(f for f in frames if f["event"] == "agent.tool_call")
    assert call["metadata"]["task_id"] == 1, call

    c.send("user.message", "plan")
    request = c.until("agent.user_confirm")
    c.send("user.response", {"approved": False, "reason": "too long"}, step_id=request["step_id"])
    gone = c.until("plan.cancelled")
    assert "content" in gone and "too long" in gone["content"]["reason"] and "too long" in gone["metadata"]["reason"], gone
    c.rest()


def given_tasks(c):
    c.send("user.solve_tasks", {"tasks": [{"id": 7, "title": "seven"}, {"id": "x", "title": "ex"}], "question": "which?", "plan_summary": "given_tasks"})
    frames = c.rest()
    in_order(frames, "solver.start", "solver.completed", "solver.completed", "pipeline.completed")
    assert [f["content"]["task"]["id"] for f in frames if f["event"] == "solver.start" and f["content"]["task"]["id"] == 7], frames


def steer(c):
    c.send("user.message", "slow plan")
    c.until("solver.start", task_id="a")
    c.send("user.restart_task", {"task_id": "a"})
    again = c.until("solver.restarted")
    assert again["content"]["task"]["id"] == "a" and again["metadata"]["retry_count"] == 1, again
    c.until("solver.start", task_id="a")
    c.send("user.cancel_task", {"task_id": "nope"})
    assert c.until("system.notice", ok=False)["metadata"]["task_id"] == "nope"
    c.send("user.cancel_task", {"task_id": "a"})
    gone = c.until("solver.cancelled")
    assert gone["content"]["task"]["id"] == "a", gone
    c.until("solver.completed", task_id="b")
    c.rest()


def cancel(c):
    c.send("user.message", "hang")
    c.until("agent.partial_answer")
    c.send("user.message", "plain")  # queued
    c.send("user.cancel")
    stopped = c.until("agent.interrupted")
    assert stopped["metadata"]["reason"], stopped
    assert c.rest()[-1]["content"] == "你好, 世界 😀"


def ends(c):
    frames = c.turn("fail")
    assert frames[-1]["event"] == "agent.error" and frames[-1]["metadata"]["error_type"] and "context" in frames[-1]["metadata"], frames[-1]
    frames = c.turn("late")
    assert frames[-1]["event"] == "agent.timeout" and "duration_seconds" in frames[-1]["metadata"] and frames[-1]["metadata"]["stage"], frames[-1]
    frames = c.turn("faults")
    in_order(frames, "error.retry", "error.recovery_started", "error.recovery_success", "error.recovery_started", "error.recovery_failed")
    retry = next(f for f in frames if f["event"] == "error.retry")
    assert retry["metadata"]["attempt"] == 1 and retry["metadata"]["max_retries"] == 2, retry


def pipelined():
    """Frames after user.create_session apply to the session that it creates."""
    c = Client()
    c.send("user.create_session", {"title": "急", "n": 1})
    c.send("user.message", "plain")
    c.session = c.until("agent.session_created")["session_id"]
    assert c.rest()[-1]["session_id"] == c.session
    return c


def lost_connection(c):
    """After a connection lost during a turn, missed frames arrive once and in order."""
    c.send("user.message", "gated")
    c.until("agent.partial_answer")
    at = c.seen[-1]
    c.send("user.ack", seq=at["seq"])
    c.sock.drop()
    again = Client()
    again.session = c.session
    again.send("user.reconnect", {"last_event_id": at["event_id"], "last_seq": at["seq"]})
    again.send("user.message", "open")
    frames = again.rest()
    text = joined([at] + frames)
    assert text == "one two three four five six", text
    again.rest()
    return again


def state(c):
    """A state re-encoded by Python's json is accepted although its bytes changed."""
    c.send("user.request_state")
    signed = c.until("agent.state_exported")["metadata"]["signed_state"]
    j = json.dumps(signed["state"], sort_keys=True, separators=(",", ":"))
    assert hashlib.sha256(j.encode()).hexdigest() == signed["checksum"]
    assert signed["version"] == "1.0" and abs(signed["timestamp"] - time.time()) < 60
    for field in ("session_id", "current_step", "agent_state", "created_at", "memory_snapshot"):
        assert field in signed["state"], field
    assert isinstance(json.loads(signed["state"]["memory_snapshot"]), list)
    at = c.seen[-1]
    c.turn("plain")
    missed = [f for f in c.seen if f["seq"] > at["seq"]]
    c.sock.drop()

    again = Client()
    spoilt = json.loads(json.dumps(signed))
    spoilt["state"]["current_step"] += 1
    again.send("user.reconnect_with_state", signed_state=spoilt, session=False)
    assert "Invalid state" in again.until("system.error")["content"]
    again.send("user.reconnect_with_state", session=False)
    assert "Missing signed_state" in again.until("system.error")["content"]
    shuffled = json.loads(json.dumps(signed), object_pairs_hook=lambda pairs: dict(reversed(pairs)))
    again.send("user.reconnect_with_state", {"last_seq": at["seq"], "last_event_id": at["event_id"]}, signed_state=shuffled, session=False)
    restored = again.until("agent.state_restored")
    assert restored["metadata"]["original_session_id"] == c.session != restored["session_id"]
    again.session = restored["session_id"]
    end = again.until("system.notice", action="replay")
    old = [f for f in again.seen if "orig_seq" in f["metadata"]]
    assert [(f["event"], f["metadata"]["orig_event_id"], f.get("content")) for f in old] == [
        (f["event"], f["event_id"], f.get("content")) for f in missed
    ]
    assert end["metadata"]["replayed"] == len(old) and all(f["session_id"] == again.session for f in old)
    assert again.turn("plain")[-1]["content"] == "你好, 世界 😀"
    return again


def malformed(c):
    for text, event in (
        ("nonsense", "system.error"), ("[1]", "system.error"), ("{}", "system.error"), ('{"event":"user.fly"}', "system.error"),
        ('{"event":"user.message","session_id":"nope","content":"hi"}', "agent.error"),
        ('{"event":"user.message","session_id":"%s","content":""}' % c.session, "error.validation"),
        ('{"event":"user.response","session_id":"%s","content":{"approved":true}}' % c.session, "error.validation"),
        ('{"event":"user.cancel_task","session_id":"%s"}' % c.session, "error.validation"),
    ):
        c.sock.send(text)
        assert c.until(event), text
    c.send("user.message", {"text": "plain"})  # content may be an object
    assert c.rest()[-1]["content"] == "你好, 世界 😀"


def main():
    c = Client()
    for step in (greeting, Client.create, answer, tool, decide, plan, given_tasks, steer, cancel, ends, malformed):
        step(c)
        print("ok", step.__name__, flush=True)
    c = pipelined()
    print("ok pipelined", flush=True)
    c = lost_connection(c)
    print("ok lost_connection", flush=True)
    state(c)
    print("ok state", flush=True)


main()
