"""An AgentLoop server written from the protocol's document and recordings of the real servers.

usage: agentloop_server.py PORT STYLE

Its first output line is its port. STYLE is "document" or "wire" and selects the order and form of its messages. It has
one session and sends to the newest connection. The first word of a message selects the agent's scenario.

In the style "wire" the server has no queue: a message during a turn aborts the pending request and takes over the turn.
A new connection begins a new session.
"""

import json
import sys
import threading
import time
import uuid

import ws

PORT, WIRE = int(sys.argv[1]), sys.argv[2] == "wire"
REVIEWS = ("yes", "no-exit", "no-continue", "always", "explain")


class Stopped(Exception):
    pass


class Loop:
    def __init__(self):
        self.sock = None
        self.lock = threading.Lock()
        self.pending, self.review, self.always = threading.Event(), None, set()
        self.waiting = False
        self.inputs, self.busy = [], False
        self.tokens = 1000
        self.run, self.runs = threading.local(), 0  # wire: number of this thread's run of the model, and of the newest

    def overtaken(self):
        return getattr(self.run, "number", self.runs) != self.runs

    def overtake(self):
        self.runs += 1
        self.waiting = False
        self.pending.set()

    def send(self, type, payload):
        if self.overtaken() and type not in ("agent_finished", "context_info"):
            raise Stopped
        with self.lock:
            try:
                self.sock.send(json.dumps({"id": str(uuid.uuid4()), "type": type, "payload": payload}, ensure_ascii=not WIRE))
            except (OSError, ws.Closed):
                pass

    def error(self, message, details=None):
        self.send("error", {"message": message} if WIRE and details is None else {"message": message, "details": details})

    def serve(self, sock, path):
        if WIRE:
            self.overtake()
        self.sock = sock
        while True:
            text = sock.recv()
            print(text, flush=True)
            try:
                m = json.loads(text)
                assert isinstance(m["id"], str) and isinstance(m["type"], str)
            except (ValueError, KeyError, AssertionError):
                self.error("Invalid message format", {})
                continue
            self.handle(m["type"], m.get("payload") or {})

    def handle(self, type, payload):
        if type == "user_input" and not payload.get("input"):
            self.error("Failed to process user input", {})
        elif type == "user_input" and WIRE:
            self.overtake()
            threading.Thread(target=self.work_now, args=(payload["input"], self.runs), daemon=True).start()
        elif type == "user_input":
            self.inputs.append(payload["input"])
            if not self.busy:
                self.busy = True
                threading.Thread(target=self.work, daemon=True).start()
        elif type == "approval_response":
            if not self.waiting or payload.get("review") not in REVIEWS:
                self.error("No pending approval request")
            else:
                self.review, self.waiting = payload, False
                self.pending.set()
        elif type == "get_context_info":
            self.context()
        elif type == "manual_compact":
            old, self.tokens = self.tokens, 120
            if WIRE:
                self.send("loading_state", {"loading": True})
            self.send("context_compacted", {"oldTokenCount": old, "newTokenCount": 120, "reductionPercent": 88.0, "strategy": "Threshold"})
            if WIRE:  # and begins a turn
                self.message("assistant", "Summary.")
                self.finished(True)
                self.send("loading_state", {"loading": False})
        else:
            self.error(f"Unknown message type: {type}")

    def context(self):
        self.send(
            "context_info",
            {"tokenCount": self.tokens, "usagePercent": 35.4, "transcriptLength": 87, "maxTokens": 128000, "strategy": "ThresholdContextManager"},
        )

    def item(self, **fields):
        self.send("response_item", fields)

    def message(self, role, text, id=None):
        part = {"type": "output_text" if WIRE and role == "assistant" else "input_text", "text": text}
        fields = {"type": "message", "role": role, "content": [part]}
        if id or not WIRE or role == "assistant":
            fields["id"] = id or "resp_" + uuid.uuid4().hex[:8]
        self.item(**fields)

    def finished(self, last):
        if WIRE:  # once per model response, before its items
            self.send("agent_finished", {"responseId": "" if last else "resp_1"})
            self.context()

    def work(self):
        while self.inputs:
            text, scenario = self.scenario(self.inputs.pop(0))
            self.send("loading_state", {"loading": True})
            failed = False
            try:
                failed = scenario(text)
            except Stopped:
                pass
            self.send("loading_state", {"loading": False})
            if not failed:
                self.send("agent_finished", {"responseId": "resp_def456"})
        self.busy = False

    def work_now(self, items, number):
        """A run of the style wire. One that another message overtakes says nothing more but its end."""
        self.run.number = number
        try:
            text, scenario = self.scenario(items)
            self.send("loading_state", {"loading": True})
            self.message("user", text)
            if not scenario(text):  # no model response, no end
                self.finished(True)
            self.send("loading_state", {"loading": False})
        except Stopped:
            time.sleep(0.5)
            self.finished(False)

    def scenario(self, items):
        text = " ".join(c["text"] for i in items for c in i.get("content", ()) if c.get("type") == "input_text")
        return text, getattr(self, "on_" + text.split()[0], self.on_plain)

    def ask(self, command, patch=None):
        if tuple(command) in self.always:
            return {"review": "yes"}
        while True:
            payload = {"command": command}
            if patch:
                payload["applyPatch"] = {"patch": patch}
            self.pending.clear()
            self.waiting = True
            self.send("approval_request", payload)
            self.pending.wait(60)
            if self.overtaken():
                raise Stopped
            if self.review["review"] != "explain":
                break
            self.message("assistant", "It would run " + " ".join(command))
        if self.review["review"] == "always":
            self.always.add(tuple(command))
        return self.review

    def shell(self, command, output, code=0):
        id = "call_" + uuid.uuid4().hex[:8]
        out = json.dumps({"output": output, "metadata": {"exit_code": code, "duration_seconds": 0.1}})
        if WIRE:
            self.item(type="local_shell_call", id="lsh_" + id, call_id=id, status="completed", action={"type": "exec", "command": command, "env": {}})
            self.item(type="local_shell_call_output", call_id=id, output=out)
        else:
            self.item(type="function_call", id=id, call_id=id, name="shell", arguments=json.dumps({"command": command}))
            self.item(type="function_call_output", id="output_" + id, call_id=id, output=out)

    def on_plain(self, text):
        part = {"content": [{"type": "input_text", "text": "a greeting"}]} if not WIRE else {"summary": [{"type": "summary_text", "text": "a greeting"}]}
        self.item(type="reasoning", id="reasoning_1", duration_ms=3, **part)
        id = "claude_" + uuid.uuid4().hex[:8]
        for piece in ("你好", ", ", "world: " + text):
            self.message("assistant", piece, id)

    def on_shell(self, text):
        self.message("assistant", "Looking. ")
        review = self.ask(["rm", "-rf", "node_modules"])
        return self.after(review, lambda: self.shell(["rm", "-rf", "node_modules"], "gone\n"))

    def on_patch(self, text):
        patch = "*** Begin Patch\n*** Update File: src/app.ts\n@@ -1,3 +1,4 @@\n import express from 'express';\n+import cors from 'cors';\n const app = express();\n*** End Patch"
        review = self.ask(["apply_patch", patch], patch)
        got = (review.get("applyPatch") or {}).get("patch", patch)
        return self.after(review, lambda: self.shell(["apply_patch", "…"], "patched: " + got.split("\n")[1]))

    def after(self, review, do):
        if review["review"] in ("yes", "always"):
            do()
            self.message("assistant", "Done.")
            return
        if WIRE:  # the model is told, and answers
            self.item(type="function_call_output", call_id="call_x", output='{"output":"aborted","metadata":{}}')
            self.message("user", review.get("customDenyMessage") or "No, not that.")
        if review["review"] == "no-exit" and WIRE:
            self.message("assistant", "Stopped.")
        elif review["review"] == "no-continue":
            self.message("assistant", "Without it, then: " + (review.get("customDenyMessage") or ""))
        else:
            self.item(type="function_call_output", call_id="call_x", output='{"output":"aborted","metadata":{}}')
            raise Stopped

    def on_held(self, text):
        # A client must not show the activity of another shell before the decision.
        def later():
            time.sleep(0.1)
            self.shell(["ls"], "a b")

        t = threading.Thread(target=later)
        t.start()
        review = self.ask(["git", "push"])
        t.join()
        self.after(review, lambda: self.shell(["git", "push"], "pushed", 1))

    def on_warn(self, text):
        self.message("system", "⚠️ Network error while contacting OpenAI. Please check your connection and try again.")
        self.message("assistant", "There again.")

    def on_fail(self, text):
        if WIRE:
            self.message("system", "⚠️  Rate limit exceeded. Try again later.", "error-1")
        else:
            self.error("Failed to process user input", {"error": "Rate limit exceeded", "code": 429})
        return True

    def on_failing(self, text):  # as with Anthropic's models
        error = {"type": "message", "role": "assistant", "status": "incomplete", "content": [{"type": "output_text", "text": "Error: 529 overloaded"}]}
        self.item(id="claude_1", **error)
        self.send("loading_state", {"loading": False})
        self.send("loading_state", {"loading": False})
        self.item(id="error_1", **error)
        return True

    def on_slow(self, text):
        self.message("assistant", "one ", "s1")
        time.sleep(1.5)
        self.message("assistant", "two", "s1")

    def on_cut(self, text):
        self.message("assistant", "before ", "s2")
        self.sock.drop()
        time.sleep(2.5)
        self.message("assistant", "after", "s2")


loop = Loop()
ws.serve(PORT, loop.serve, lambda port: print(port, flush=True))
