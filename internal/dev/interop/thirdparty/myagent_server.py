"""A MyAgent server written from the protocol's document and recordings of the real servers.

usage: myagent_server.py PORT SECRET

Its first output line is its port. A session ends with its connection; a signed state restores it. The first word of a
message selects the agent's scenario.
"""

import collections
import hashlib
import hmac
import json
import os
import sys
import threading
import time
import uuid
from datetime import datetime

import ws

PORT, SECRET = int(sys.argv[1]), sys.argv[2]
SENT_FRAMES = {}  # session id: frames sent on all its connections
RESPONSE_TIMEOUT = 60
HOLD = 0.075  # seconds that a piece of an answer is held; only the newest one is sent

os.environ["TZ"] = "Asia/Shanghai"  # timestamps are local times without a zone
time.tzset()


def sign(state, timestamp):
    j = json.dumps(state, sort_keys=True, separators=(",", ":"))
    return {
        "state": state,
        "timestamp": timestamp,
        "signature": hmac.new(SECRET.encode(), f"{j}:{timestamp}:1.0".encode(), hashlib.sha256).hexdigest(),
        "version": "1.0",
        "checksum": hashlib.sha256(j.encode()).hexdigest(),
    }


def verify(signed):
    for field in ("state", "timestamp", "signature", "version", "checksum"):
        if field not in signed:
            return f"missing {field}"
    want = sign(signed["state"], signed["timestamp"])
    if want["checksum"] != signed["checksum"]:
        return "checksum mismatch"
    if not hmac.compare_digest(want["signature"], signed["signature"]):
        return "signature mismatch"
    if time.time() - signed["timestamp"] > 7 * 24 * 3600:
        return "state expired"
    state = signed["state"]
    if not isinstance(state.get("current_step"), int) or not all(k in state for k in ("session_id", "agent_state", "created_at")):
        return "missing required fields"
    return None


class Cancelled(Exception):
    pass


class Connection:
    def __init__(self, sock):
        self.sock = sock
        self.id = "conn_" + uuid.uuid4().hex[:8]
        self.seq = 0
        self.lock = threading.Lock()
        self.sessions = {}
        self.held = {}  # session id: newest piece of its answer

    def send(self, event, session=None, content=None, metadata=None, step=None, timestamp=None):
        with self.lock:
            self.seq += 1
            frame = {"event": event, "timestamp": timestamp or datetime.now().isoformat(), "seq": self.seq, "event_id": f"{self.id}-{self.seq}"}
            if content is not None:
                frame["content"] = content
            if session:
                frame["session_id"] = session.id
            if step:
                frame["step_id"] = step
            frame["metadata"] = dict(metadata or {}, connection_id=self.id)
            if session:
                session.sent_frames.append(frame)
            if event == "agent.partial_answer":
                if session.id not in self.held:
                    threading.Timer(HOLD, self.release, [session.id]).start()
                self.held[session.id] = frame
                return
            self.sock.send(json.dumps(frame))

    def release(self, session):
        with self.lock:
            try:
                self.sock.send(json.dumps(self.held.pop(session)))
            except (ws.Closed, OSError):
                pass

    def run(self):
        self.send("system.connected", content="Connected")
        try:
            while True:
                try:
                    frame = json.loads(self.sock.recv())
                except ValueError:
                    self.send("system.error", content="Invalid JSON")
                    continue
                self.handle(frame)
        finally:
            for s in self.sessions.values():
                s.stop.set()

    def handle(self, frame):
        event, content = frame.get("event"), frame.get("content")
        print(json.dumps(frame), flush=True)
        if event == "user.ack":
            return
        if event == "user.create_session":
            s = Session(self, uuid.uuid4().hex[:12])
            self.send("agent.session_created", s, "Session created successfully", {"agent_name": "third-party"})
            return
        if event == "user.reconnect_with_state":
            self.restore(frame)
            return
        s = self.sessions.get(frame.get("session_id"))
        if event == "user.reconnect" or not frame.get("session_id"):
            self.send("system.error", content=f"Unknown event type or missing session_id: {event}")
        elif s is None:
            self.send("agent.error", content="Session not found", metadata={"error_type": "session"})
        else:
            s.handle(event, frame, content)

    def restore(self, frame):
        signed = frame.get("signed_state")
        if not signed:
            self.send("system.error", content="Missing signed_state in reconnect request")
            return
        wrong = verify(signed)
        if wrong:
            self.send("system.error", content=f"Invalid state: {wrong}")
            return
        old = signed["state"]["session_id"]
        s = Session(self, uuid.uuid4().hex[:12])
        s.steps, s.memory = signed["state"]["current_step"], json.loads(signed["state"]["memory_snapshot"])
        self.send("agent.state_restored", s, "State restored successfully", {"original_session_id": old})
        content = frame.get("content") or {}
        last = content.get("last_event_id") or f"-{content.get('last_seq', 0)}"
        after = int(last.rsplit("-", 1)[1])
        missed = [f for f in SENT_FRAMES.get(old, ()) if f["seq"] > after][-200:]
        for f in missed:
            meta = dict(f["metadata"], orig_seq=f["seq"], orig_event_id=f["event_id"])
            self.send(f["event"], s, f.get("content"), meta, f.get("step_id"), f["timestamp"])
        if old in SENT_FRAMES:
            self.send("system.notice", s, "Replay completed", {"action": "replay", "replayed": len(missed), "last_event_id": content.get("last_event_id"), "last_seq": after})
        else:
            self.send("system.notice", s, "No buffered events available for replay", {"action": "replay", "count": 0})


class Session:
    def __init__(self, connection, id):
        self.c, self.id = connection, id
        self.sent_frames = SENT_FRAMES.setdefault(id, collections.deque(maxlen=1000))
        self.answers, self.tasks = {}, {}
        self.stop, self.running = threading.Event(), False
        self.steps, self.memory, self.replan = 0, [], None
        connection.sessions[id] = self

    def emit(self, event, content=None, metadata=None, step=None):
        self.c.send(event, self, content, metadata, step)

    def handle(self, event, frame, content):
        if event == "user.message" or event == "user.solve_tasks":
            if self.running:
                self.emit("agent.error", "Agent is currently running, please try again later")
                return
            self.running = True
            self.stop.clear()
            threading.Thread(target=self.turn, args=(content,), daemon=True).start()
        elif event == "user.response":
            waits = self.answers.get(frame.get("step_id"))
            if waits:
                waits[1].update(content)
                waits[0].set()
        elif event == "user.cancel":
            self.stop.set()
            for waits in list(self.answers.values()):
                waits[0].set()
        elif event in ("user.cancel_task", "user.restart_task"):
            for task, steer in self.tasks.items():
                if task == content["task_id"]:
                    steer.append(event)
            action = event.removeprefix("user.")
            self.emit("system.notice", "Request submitted", {"task_id": content["task_id"], "action": action, "ok": True})
        elif event == "user.replan":
            self.replan = content["question"]
            self.emit("system.notice", "Replan requested", {"action": "replan", "ok": True, "mode": "in_run"})
        elif event == "user.request_state":
            state = {
                "session_id": self.id, "current_step": self.steps, "agent_state": "IDLE", "created_at": datetime.now().isoformat(),
                "memory_snapshot": json.dumps(self.memory, ensure_ascii=False),
                "tuning": {"é": 1e16, "b": 1.0, "a": -0.0, "c": [0.1, 1e-07, 1.5e300, 10**20, -3], "z": "会话😀\u2028\x7f</a>\"\\", "n": None, "t": True},
            }
            self.emit("agent.state_exported", "State exported", {"signed_state": sign(state, int(time.time())), "current_step": self.steps})
        else:
            self.c.send("system.error", content=f"Unknown event type or missing session_id: {event}")

    def confirm(self, step, content, metadata):
        self.answers[step] = (threading.Event(), {})
        self.emit("agent.user_confirm", content, dict(metadata, requires_confirmation=True), step)
        self.answers[step][0].wait(RESPONSE_TIMEOUT)
        return self.answers.pop(step)[1]

    def pause(self, seconds):
        if self.stop.wait(seconds):
            raise Cancelled

    def turn(self, content):
        self.steps += 1
        try:
            if isinstance(content, dict) and "tasks" in content:
                self.solve(content["tasks"])  # its end is not announced
                return
            self.memory.append({"role": "user", "content": content})
            scenario = content.split()[0]
            getattr(self, "on_" + scenario, self.on_plain)(content)
        except Cancelled:
            self.emit("agent.interrupted", "Execution cancelled")
        except (ws.Closed, OSError):
            pass
        finally:
            self.running = False

    def final(self, text):
        self.memory.append({"role": "assistant", "content": text})
        self.running = False
        self.emit("agent.final_answer", text)

    def stream(self, *pieces):
        for p in pieces:
            self.emit("agent.partial_answer", p, {"is_streaming": True, "is_final": False})
        self.emit("agent.partial_answer", "", {"is_streaming": True, "is_final": True, "total_length": sum(map(len, pieces))})

    def on_plain(self, content):
        self.emit("agent.thinking", "Thinking about step 1", {"step": 1})
        self.stream("你好", ", ", "world: " + content)
        self.final("你好, world: " + content)

    def on_tool(self, content):
        step = f"step_{self.steps}_get_weather"
        args = {"city": "巴黎", "days": 2, "exact": 1e16}
        self.emit("agent.tool_call", "Calling get_weather", {"tool": "get_weather", "args": args, "status": "running"}, step)
        response = self.confirm(
            f"confirm_{uuid.uuid4().hex[:8]}_get_weather", "Confirm get_weather?",
            {"tool_name": "get_weather", "tool_description": "Get the weather", "tool_args": args},
        )
        if self.stop.is_set():
            raise Cancelled
        if response.get("confirmed") is True:
            self.emit("agent.tool_result", "sunny", {"tool": "get_weather", "status": "success", "data": {"sky": "clear", "t": 21.5}}, step)
            self.final("It is sunny.")
        else:
            self.emit("agent.tool_result", "None", {"tool": "get_weather", "status": "failed", "error": "Tool execution cancelled by user"}, step)
            self.final("As you wish.")

    def on_plan(self, content):
        tasks = [{"id": i, "title": t, "objective": "task " + t} for i, t in ((1, "生成PPT"), (2, "优化样式"), (3, "导出文件"))]
        while True:
            self.replan = None
            self.emit("plan.start", {"question": content})
            self.emit("plan.completed", {"tasks": tasks, "plan_summary": "three tasks"}, {"statistics": []})
            response = self.confirm(
                "confirm_plan_" + uuid.uuid4().hex[:8], "Confirm plan before solving", {"scope": "plan", "plan_summary": "three tasks", "tasks": tasks}
            )
            if self.stop.is_set():
                raise Cancelled
            if response.get("confirmed") is True or self.replan is None:
                break
            content = self.replan
        if response.get("confirmed") is not True:
            self.final("Plan was declined by user.")
            return
        self.aggregate(content, self.solve(response.get("tasks") or tasks))
        self.final("All is solved.")

    def on_slowplan(self, content):
        tasks = [{"id": "a", "title": "first"}, {"id": "b", "title": "second"}]
        self.emit("plan.start", {"question": content})
        self.emit("plan.completed", {"tasks": tasks, "plan_summary": ""}, {"statistics": []})
        self.aggregate(content, self.solve(tasks, waits=True))
        self.final("Steered.")

    def solve(self, tasks, waits=False):
        results = []
        for t in tasks:
            steer = self.tasks[t["id"]] = []
            again = True
            while again:
                again = False
                self.emit("solver.start", {"task": t})
                self.emit("agent.thinking", f"about {t['title']}", {"streaming": False, "task_id": t["id"]})
                for _ in range(1200 if waits else 1):
                    if steer:
                        break
                    self.pause(0.05)
                if steer and steer[0] == "user.restart_task":
                    steer.clear()
                    self.emit("solver.cancelled", {"task": t})
                    self.emit("solver.restarted", {"task": t})
                    waits, again = False, True
            if steer:
                self.emit("solver.cancelled", {"task": t})
                continue
            summary = f"{t['title']} is done"
            results.append({"task": t, "output": {"slides": 5}, "summary": summary})
            self.emit(
                "solver.completed", {"task": t, "result": {"output": {"slides": 5}, "summary": summary, "agent_name": "solver", "model": "m"}},
                {"statistics": [{"agent": "solver", "model": "m", "total_calls": 3, "total_input_tokens": 1200, "total_output_tokens": 800}]},
            )
        return results

    def aggregate(self, question, results):
        whole = {"context": {"question": question}, "solver_results": results}
        self.emit("aggregate.start", whole)
        self.emit("aggregate.completed", dict(whole, output="all together"))
        self.emit("pipeline.completed", dict(whole, aggregate_output="all together"), {"statistics": []})

    def on_slow(self, content):
        self.emit("agent.thinking", "this takes a while", {"streaming": True})
        self.emit("agent.partial_answer", "so far", {"is_streaming": True, "is_final": False})
        self.pause(600)

    def on_faults(self, content):
        self.emit("error.validation", "Bad input", {"validation_errors": [{"field": "city", "message": "unknown"}]})
        self.emit("error.timeout", "Task execution exceeded 30 second timeout", {"timeout_seconds": 30, "elapsed_seconds": 31.5, "recovery_action": "retry"})
        self.emit("error.execution", "It broke", {"error_type": "ValueError", "recoverable": True, "context": {"step": 2}})
        self.emit("error.retry", "Retrying", {"attempt": 1, "max_retries": 3, "delay_seconds": 1.5, "original_error": "boom"})
        self.emit("error.recovery_started", "Recovering", {"recovery_action": "reload", "estimated_duration": 2})
        self.emit("error.recovery_success", "Recovered", {"recovery_time": 1.5, "attempt_count": 2})
        self.emit("error.recovery_failed", "Not recovered", {"error_code": "E1", "original_error": "a", "recovery_error": "b"})
        self.emit("plan.coercion_error", "Not a plan", {"details": {"line": 3}})
        self.emit("agent.error", "Agent failed", {"error_type": "RuntimeError", "context": {"step": 3}})

    def on_late(self, content):
        self.emit("agent.timeout", "Out of time", {"duration_seconds": 30, "stage": "solve"})

    def on_bye(self, content):
        self.final("Bye.")
        self.emit("agent.session_end", "Session ended", {"duration_seconds": 12.5, "total_steps": self.steps})

    def on_cut(self, content):
        self.emit("agent.thinking", "the link will break", {"step": 1})
        self.c.sock.drop()
        time.sleep(0.2)
        missed = [("agent.partial_answer", "missed this", {"is_streaming": True, "is_final": False}), ("agent.final_answer", "missed this", None)]
        for event, text, meta in missed:  # sent to nobody, but recorded
            try:
                self.emit(event, text, meta)
            except (ws.Closed, OSError):
                pass


def ready(port):
    print(port, flush=True)


ws.serve(PORT, lambda sock, path: Connection(sock).run(), ready)
