"""An AgentLoop client written from the protocol's document alone. It runs every exchange of the document.

usage: agentloop_client.py URL

The server's agent must run agent.script. Each exchange prints "ok NAME"; the first deviation is an error.
"""

import json
import sys
import uuid

import ws

URL = sys.argv[1]
ITEMS = ("message", "function_call", "function_call_output", "local_shell_call", "local_shell_call_output", "reasoning")


class Client:
    def __init__(self, path=""):
        self.sock = ws.connect(URL.rstrip("/") + path)

    def send(self, type, **fields):
        self.sock.send(json.dumps(dict({"id": str(uuid.uuid4()), "type": type}, **fields)))

    def input(self, text, **more):
        content = [{"type": "input_text", "text": text}]
        self.send("user_input", payload=dict({"input": [{"type": "message", "role": "user", "content": content}]}, **more))

    def review(self, review, **more):
        self.send("approval_response", payload=dict({"review": review}, **more))

    def next(self):
        m = json.loads(self.sock.recv(20))
        assert isinstance(m["id"], str) and isinstance(m["type"], str), m
        p = m.get("payload")
        if m["type"] == "response_item":
            assert p["type"] in ITEMS, m
            if p["type"] in ("message", "reasoning"):
                assert all(isinstance(c["text"], str) for c in p["content" if p["type"] == "message" else "summary"]), m
            if p["type"].endswith("_output"):
                out = json.loads(p["output"])
                assert isinstance(out["output"], str) and "metadata" in out, m
            if p["type"] == "function_call":
                json.loads(p["arguments"])
        elif m["type"] == "loading_state":
            assert isinstance(p["loading"], bool), m
        elif m["type"] == "agent_finished":
            assert isinstance(p["responseId"], str), m
        elif m["type"] == "context_info":
            assert all(isinstance(p[k], (int, float)) for k in ("tokenCount", "usagePercent", "transcriptLength", "maxTokens")), m
            assert isinstance(p["strategy"], str)
        elif m["type"] == "error":
            assert isinstance(p["message"], str), m
        else:
            assert m["type"] in ("approval_request", "context_compacted"), m
        return m

    def until(self, type, want=lambda p: True):
        """Returns the messages up to the first of that type."""
        seen = []
        while True:
            seen.append(self.next())
            if seen[-1]["type"] == type and want(seen[-1]["payload"]):
                return seen

    def rest(self, end="agent_finished"):
        return self.until(end)

    def wait_approval(self):
        return self.until("approval_request")[-1]["payload"]

    def turn(self, text):
        self.input(text)
        return self.rest()


def texts(messages):
    """Returns the shown texts: chunks of one id form one message."""
    shown = []
    for m in messages:
        p = m["payload"]
        if m["type"] == "response_item" and p["type"] == "message" and p["role"] == "assistant":
            text = "".join(c["text"] for c in p["content"])
            if shown and shown[-1][0] == p.get("id"):
                shown[-1][1] += text
            else:
                shown.append([p.get("id"), text])
    return [text for _, text in shown]


def kinds(messages):
    return [m["payload"]["type"] if m["type"] == "response_item" else m["type"] + str(m["payload"].get("loading", "")) for m in messages]


def outputs(messages):
    return [json.loads(m["payload"]["output"]) for m in messages if m["type"] == "response_item" and m["payload"]["type"].endswith("_output")]


def idle(c):
    c.send("get_context_info")
    assert c.until("context_info")[-1]["payload"]["maxTokens"] == 200000
    c.send("manual_compact")
    assert c.until("error")[-1]["payload"]["message"] == "AgentLoop not initialized"
    c.review("yes", customDenyMessage=None)
    c.until("error")


def answer(c):
    seen = c.turn("plain")
    assert texts(seen) == ["你好, 世界 😀"], seen
    assert kinds(seen)[0] == "loading_stateTrue" and kinds(seen)[-2:] == ["loading_stateFalse", "agent_finished"], kinds(seen)
    reasoning = next(m["payload"] for m in seen if m["payload"].get("type") == "reasoning")
    assert reasoning["summary"][0]["text"] == "a greeting" and "content" not in reasoning, reasoning
    c.input("plain", previousResponseId=seen[-1]["payload"]["responseId"])
    c.rest()


def tool(c):
    seen = c.turn("tool")
    call = next(m["payload"] for m in seen if m["payload"].get("type") == "function_call")
    done = next(m["payload"] for m in seen if m["payload"].get("type") == "function_call_output")
    assert call["name"] == "shell" and json.loads(call["arguments"]) == {"command": "ls", "n": 1e16, "m": -0.0, "o": 1.0}, call
    assert done["call_id"] == call["call_id"] and json.loads(done["output"])["output"] == "a b", done
    assert json.loads(done["output"])["metadata"]["exit_code"] == 0, done


def decide(c):
    c.input("ask")
    assert c.wait_approval()["command"] == ["rm", "-rf", "build"]
    c.review("yes", customDenyMessage=None)
    assert texts(c.rest()) == ["Removed it."]

    c.input("ask")
    c.wait_approval()
    c.review("no-continue", customDenyMessage="不行")
    assert texts(c.rest()) == ["Kept it."]

    c.input("ask")
    c.wait_approval()
    c.review("explain")
    seen = c.until("approval_request")  # the explanation, then the same request
    assert seen[-1]["payload"]["command"] == ["rm", "-rf", "build"] and texts(seen) == ["It removes the folder."], seen
    c.review("no-exit")
    seen = c.rest()
    assert "Removed it." not in texts(seen) and "Kept it." not in texts(seen), seen
    c.review("yes")
    assert c.until("error")[-1]["payload"]["message"] == "No pending approval request"

    c.input("ask")
    c.wait_approval()
    c.review("always")
    assert texts(c.rest()) == ["Removed it."]
    c.input("ask")
    seen = c.rest()
    assert "approval_request" not in kinds(seen) and texts(seen) == ["Removed it."], seen


def patch(c):
    c.input("patch")
    request = c.wait_approval()
    assert request["command"][0] == "apply_patch" and request["applyPatch"]["patch"].startswith("*** Begin Patch\n*** Update File: f"), request
    changed = request["applyPatch"]["patch"].replace("+b", "+ß")
    c.review("yes", applyPatch={"patch": changed})
    assert texts(c.rest()) == ["Applied " + changed], texts
    c.input("patch")
    same = c.wait_approval()["applyPatch"]
    c.review("yes", applyPatch=same)  # like the real clients
    c.rest()


def context(c):
    c.send("get_context_info")
    c.until("context_info")
    c.send("get_context_info", payload={})
    c.until("context_info")
    c.send("manual_compact")
    while True:  # the agent may not support it
        m = c.next()
        if m["type"] in ("context_compacted", "error"):
            break
    if m["type"] == "context_compacted":
        p = m["payload"]
        assert all(isinstance(p[k], (int, float)) for k in ("oldTokenCount", "newTokenCount", "reductionPercent")), p
    else:
        assert m["payload"]["message"] == "Failed to compact context", m


def fails(c):
    c.input("fail")
    seen = c.until("loading_state", lambda p: p["loading"] is False)
    assert "error" in kinds(seen) and kinds(seen)[-1] == "loading_stateFalse", kinds(seen)
    assert any(m["payload"].get("role") == "system" and m["payload"]["content"][0]["text"] == "⚠️ it broke" for m in seen), seen
    assert texts(c.turn("plain")) == ["你好, 世界 😀"]  # agent_finished comes once, for this turn


def queue(c):
    c.input("gated")
    c.until("response_item", lambda p: p.get("role") == "assistant")
    c.input("plain")
    first, second = c.rest(), c.rest()
    assert texts(second) == ["你好, 世界 😀"] and kinds(second).count("loading_stateTrue") == 1, kinds(second)
    assert any(m["payload"].get("role") == "system" for m in first if m["type"] == "response_item"), first


def malformed(c):
    for text, message in (
        ("nonsense", "Invalid message format"), ("[1]", "Invalid message format"), ('{"id":"1"}', "Invalid message format"),
        ('{"id":"1","type":"bogus"}', "Unknown message type: bogus"),
        ('{"id":"1","type":"approval_response","payload":{"review":"yes"}}', "No pending approval request"),
        ('{"id":"1","type":"user_input","payload":{"input":[]}}', None), ('{"id":"1","type":"user_input"}', None),
        ('{"id":"1","type":"user_input","payload":{"input":"text"}}', None),
        ('{"id":"1","type":"approval_response","payload":{"review":"perhaps"}}', None), ('{"id":"1","type":"approval_response"}', None),
    ):
        c.sock.send(text)
        got = c.until("error")[-1]["payload"]["message"]
        assert message is None or got == message, (text, got)
    assert texts(c.turn("plain")) == ["你好, 世界 😀"]


def late_joiner(c):
    """A late joiner gets the turn from its start and may decide in it."""
    c.input("ask much")
    c.wait_approval()
    other = Client("/third-party")
    seen = other.until("approval_request")
    assert kinds(seen)[0] == "loading_stateTrue" and texts(seen) == ["Well. "], kinds(seen)
    other.review("yes")
    assert texts(other.rest()) == texts(c.rest())[-1:] == ["Removed it."]
    other.sock.drop()
    c.sock.drop()
    c = Client("/third-party")
    assert texts(c.turn("plain")) == ["你好, 世界 😀"]


def main():
    c = Client("/third-party")
    for step in (idle, answer, tool, decide, patch, context, fails, queue, malformed, late_joiner):
        step(c)
        print("ok", step.__name__, flush=True)


main()
