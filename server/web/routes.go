package web

import (
	"net/http"

	"agentctl/protocol"
	"agentctl/server/history"
)

var (
	closedParam = Parameter{Name: "closed", Type: "boolean", About: "Include closed sessions; true if omitted."}
	afterParam  = Parameter{
		Name: "after", Type: "string", About: "The last message that the client has: only later ones are returned.",
	}
	sinceParam = Parameter{
		Name: "since", Type: "string", About: "Position EPOCH:SEQ of the last event that the client has.",
	}
	foldParam   = Parameter{Name: "fold", Type: "string", Choices: []string{"0", "1"}, About: "1 allows folded runs."}
	lastEventID = Parameter{
		Name: "Last-Event-ID", Header: true, Type: "string", About: "As since, which it replaces; browsers send it.",
	}
	waitParam = Parameter{
		Name: "wait", Type: "string", Choices: []string{waitTurn},
		About: "turn: answer when the turn of the message has ended, or needs a user, or the timeout has passed.",
	}
	timeoutParam = Parameter{Name: "timeout", Type: "integer", About: "Seconds to wait, at most 3600; with wait: 60."}
	formatParam  = Parameter{
		Name: "format", Type: "string", Choices: []string{"md", "html", "jsonl", "asciicast"}, About: "md if omitted.",
	}
	sessionParam = Parameter{Name: "session", Type: "string", About: "The session of the blob; any if omitted."}
)

// Routes lists the routes of Handler.
var Routes = []Route{
	{
		Name: "listSessions", Method: http.MethodGet, Path: "/api/sessions", Summary: "List the sessions.",
		Params: []Parameter{closedParam}, Result: of[protocol.ListResult], handle: (*api).sessions,
	},
	{
		Name: "followSessions", Method: http.MethodGet, Path: "/api/sessions/events",
		Summary: "Follow the session list as server-sent events.", Media: []string{eventStream}, Result: of[protocol.ListResult],
		handle: (*api).listEvents,
	},
	{
		Name: "createSession", Method: http.MethodPost, Path: "/api/sessions", Verb: protocol.DoCreate,
		Summary: "Create a session.", Status: http.StatusCreated, handle: (*api).command,
	},
	{
		Name: "restoreSession", Method: http.MethodPost, Path: "/api/sessions/restore", Verb: protocol.DoRestore,
		Summary: "Create a session from an exported state.", Status: http.StatusCreated, handle: (*api).command,
	},
	{
		Name: "importSession", Method: http.MethodPost, Path: "/api/sessions/import", Verb: protocol.DoImport,
		Summary: "Create a session from the events of another server.", Status: http.StatusCreated,
		handle: (*api).command,
	},
	{
		Name: "getSession", Method: http.MethodGet, Path: "/api/sessions/{id}",
		Summary: "Get a row of the session list.", Result: of[protocol.Summary], handle: (*api).session,
	},
	{
		Name: "renameSession", Method: http.MethodPatch, Path: "/api/sessions/{id}", Verb: protocol.DoRename,
		Summary: "Change the name or the title.", handle: (*api).command,
	},
	{
		Name: "deleteSession", Method: http.MethodDelete, Path: "/api/sessions/{id}", Verb: protocol.DoClose,
		Summary: "Close a session and remove its data.", Query: true, Fixed: map[string]string{"delete": "true"},
		handle: (*api).command,
	},
	{
		Name: "closeSession", Method: http.MethodPost, Path: "/api/sessions/{id}/close", Verb: protocol.DoClose,
		Summary: "Interrupt the turn and stop the agent; the session stays readable.",
		Fixed:   map[string]string{"delete": "false"}, handle: (*api).command,
	},
	{
		Name: "getState", Method: http.MethodGet, Path: "/api/sessions/{id}/state", Verb: protocol.DoSnapshot,
		Summary: "Get the state.", Query: true, handle: (*api).command,
	},
	{
		Name: "followSession", Method: http.MethodGet, Path: "/api/sessions/{id}/events",
		Summary: "Follow the events of a session as server-sent events.", Media: []string{eventStream},
		Params: []Parameter{sinceParam, foldParam, lastEventID}, Result: of[protocol.SubscribeResult],
		handle: (*api).events,
	},
	{
		Name: "listMessages", Method: http.MethodGet, Path: "/api/sessions/{id}/messages",
		Summary: "List the messages of finished turns.", Params: []Parameter{afterParam}, Result: of[MessagesResult],
		handle: (*api).messages,
	},
	{
		Name: "sendMessage", Method: http.MethodPost, Path: "/api/sessions/{id}/messages", Verb: protocol.DoSend,
		Summary: "Send a message, and wait for its turn on request.", Params: []Parameter{waitParam, timeoutParam},
		Result: of[MessageResult], handle: (*api).send,
	},
	{
		Name: "getMessage", Method: http.MethodGet, Path: "/api/sessions/{id}/messages/{message_id}",
		Summary: "Get what became of a message, and wait for its turn on request.",
		Params:  []Parameter{waitParam, timeoutParam}, Result: of[MessageResult], handle: (*api).message,
	},
	{
		Name: "getHistory", Method: http.MethodGet, Path: "/api/sessions/{id}/history", Verb: protocol.DoHistory,
		Summary: "Read the events of finished turns in pages, the newest first.", Query: true, handle: (*api).command,
	},
	{
		Name: "searchSession", Method: http.MethodGet, Path: "/api/sessions/{id}/search", Verb: protocol.DoSearch,
		Summary: "Search a session.", Query: true, handle: (*api).command,
	},
	{
		Name: "search", Method: http.MethodGet, Path: "/api/search", Verb: protocol.DoSearch,
		Summary: "Search all sessions.", Query: true, handle: (*api).command,
	},
	{
		Name: "interrupt", Method: http.MethodPost, Path: "/api/sessions/{id}/interrupt", Verb: protocol.DoInterrupt,
		Summary: "End the turn under way.", handle: (*api).command,
	},
	{
		Name: "getQueue", Method: http.MethodGet, Path: "/api/sessions/{id}/queue",
		Summary: "List the queued messages and the holds.", Result: of[QueueResult], handle: (*api).queue,
	},
	{
		Name: "editQueued", Method: http.MethodPut, Path: "/api/sessions/{id}/queue/{message_id}",
		Verb: protocol.DoQueueEdit, Summary: "Replace a queued message.", handle: (*api).command,
	},
	{
		Name: "removeQueued", Method: http.MethodDelete, Path: "/api/sessions/{id}/queue/{message_id}",
		Verb: protocol.DoQueueRemove, Summary: "Remove a queued message.", Query: true, handle: (*api).command,
	},
	{
		Name: "moveQueued", Method: http.MethodPost, Path: "/api/sessions/{id}/queue/{message_id}/move",
		Verb: protocol.DoQueueMove, Summary: "Move a queued message.", handle: (*api).command,
	},
	{
		Name: "holdQueued", Method: http.MethodPost, Path: "/api/sessions/{id}/queue/{message_id}/hold",
		Verb: protocol.DoQueueHold, Summary: "Hold a queued message for 30 s while you edit it.",
		handle: (*api).command,
	},
	{
		Name: "holdQueue", Method: http.MethodPost, Path: "/api/sessions/{id}/queue/hold", Verb: protocol.DoQueueHold,
		Summary: "Hold the queue.", Fixed: map[string]string{"message_id": `""`}, handle: (*api).command,
	},
	{
		Name: "releaseQueue", Method: http.MethodPost, Path: "/api/sessions/{id}/queue/release",
		Verb: protocol.DoQueueRelease, Summary: "Lift one hold of the queue, or all.", handle: (*api).command,
	},
	{
		Name: "listApprovals", Method: http.MethodGet, Path: "/api/sessions/{id}/approvals",
		Summary: "List the pending requests.", Result: of[ApprovalsResult], handle: (*api).approvals,
	},
	{
		Name: "decide", Method: http.MethodPost, Path: "/api/sessions/{id}/approvals/{request}/decision",
		Verb: protocol.DoApprove, Summary: "Decide a request.", handle: (*api).command,
	},
	{
		Name: "listRules", Method: http.MethodGet, Path: "/api/sessions/{id}/rules", Verb: protocol.DoRulesList,
		Summary: "List the rules.", Query: true, handle: (*api).command,
	},
	{
		Name: "revokeRule", Method: http.MethodDelete, Path: "/api/sessions/{id}/rules/{rule}",
		Verb: protocol.DoRulesRevoke, Summary: "Revoke a rule.", Query: true, handle: (*api).command,
	},
	{
		Name: "getOptions", Method: http.MethodGet, Path: "/api/sessions/{id}/options",
		Summary: "Get the settings and commands of the agent.", Result: of[protocol.Options], handle: (*api).options,
	},
	{
		Name: "setOption", Method: http.MethodPut, Path: "/api/sessions/{id}/options/{setting}",
		Verb: protocol.DoConfigure, Summary: "Change a setting of the agent.", handle: (*api).command,
	},
	{
		Name: "changeLabels", Method: http.MethodPatch, Path: "/api/sessions/{id}/labels", Verb: protocol.DoLabel,
		Summary: "Set labels; an empty value removes one.", Fixed: map[string]string{"replace": "false"},
		handle: (*api).command,
	},
	{
		Name: "replaceLabels", Method: http.MethodPut, Path: "/api/sessions/{id}/labels", Verb: protocol.DoLabel,
		Summary: "Replace all labels.", Fixed: map[string]string{"replace": "true"}, handle: (*api).command,
	},
	{
		Name: "cancelTask", Method: http.MethodPost, Path: "/api/sessions/{id}/tasks/{task}/cancel",
		Verb: protocol.DoTaskCancel, Summary: "Cancel a task of the plan.", handle: (*api).command,
	},
	{
		Name: "restartTask", Method: http.MethodPost, Path: "/api/sessions/{id}/tasks/{task}/restart",
		Verb: protocol.DoTaskRestart, Summary: "Restart a task of the plan.", handle: (*api).command,
	},
	{
		Name: "runPlan", Method: http.MethodPost, Path: "/api/sessions/{id}/plan", Verb: protocol.DoPlanRun,
		Summary: "Run given tasks without planning.", handle: (*api).command,
	},
	{
		Name: "getContext", Method: http.MethodGet, Path: "/api/sessions/{id}/context", Verb: protocol.DoContext,
		Summary: "Get the usage of the agent's context.", Query: true, handle: (*api).command,
	},
	{
		Name: "compact", Method: http.MethodPost, Path: "/api/sessions/{id}/compact", Verb: protocol.DoCompact,
		Summary: "Compact the agent's context.", handle: (*api).command,
	},
	{
		Name: "undoTurn", Method: http.MethodPost, Path: "/api/sessions/{id}/undo", Verb: protocol.DoUndo,
		Summary: "Let the agent forget its last turn, and restore its files.", handle: (*api).command,
	},
	{
		Name: "retryTurn", Method: http.MethodPost, Path: "/api/sessions/{id}/retry", Verb: protocol.DoRetry,
		Summary: "Let the agent forget its last turn, and send its message again.", handle: (*api).command,
	},
	{
		Name: "forkSession", Method: http.MethodPost, Path: "/api/sessions/{id}/fork", Verb: protocol.DoFork,
		Summary: "Create a session with the first turns of another.", Status: http.StatusCreated,
		handle: (*api).command,
	},
	{
		Name: "exportDocument", Method: http.MethodGet, Path: "/api/sessions/{id}/export",
		Summary: "Export a session as a document.", Params: []Parameter{formatParam},
		Media:  []string{"text/markdown", "text/html", "application/x-ndjson", "application/x-asciicast"},
		handle: (*api).export,
	},
	{
		Name: "exportState", Method: http.MethodPost, Path: "/api/sessions/{id}/export", Verb: protocol.DoExport,
		Summary: "Export a signed state, for restoreSession.", handle: (*api).command,
	},
	{
		Name: "getSessionBlob", Method: http.MethodGet, Path: "/api/sessions/{id}/blobs/{blob}",
		Summary: "Get a blob of a session.", Media: []string{AnyMedia}, handle: (*api).sessionBlob,
	},
	{
		Name: "getBlob", Method: http.MethodGet, Path: "/api/blobs/{blob}", Summary: "Get a blob.",
		Params: []Parameter{sessionParam}, Media: []string{AnyMedia}, handle: (*api).blob,
	},
}

// MessagesResult holds the messages of finished turns.
type MessagesResult struct {
	Messages []history.Message `json:"messages"`
}

// QueueResult holds the queue of a session.
type QueueResult struct {
	Messages []protocol.Message `json:"messages"`
	Holds    []protocol.Hold    `json:"holds"`

	Scheduled []protocol.Message `json:"scheduled,omitempty"` // by time
}

// ApprovalsResult holds the pending requests of a session.
type ApprovalsResult struct {
	Approvals []protocol.Approval `json:"approvals"`
}

// of returns a new T as any.
func of[T any]() any { return new(T) }
