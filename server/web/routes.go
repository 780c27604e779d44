package web

import (
	"net/http"
	"sync"

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

// Routes returns the routes of Handler: the routes of commands stand in the rows of
// protocol.Commands. The caller must not change them.
var Routes = sync.OnceValue(func() []Route { return append(commandRoutes(), ownRoutes()...) })

func commandRoutes() []Route {
	var routes []Route
	for _, c := range protocol.Commands {
		for _, r := range c.Routes {
			route := Route{
				Name: r.Name, Method: r.Method, Path: r.Path, Verb: c.Verb, Summary: r.Summary, Query: r.Query,
				Fixed: r.Fixed, handle: (*api).command,
			}
			if r.Created {
				route.Status = http.StatusCreated
			}
			routes = append(routes, route)
		}
	}
	return routes
}

// ownRoutes returns the routes with their own handlers.
func ownRoutes() []Route {
	return []Route{
		{
			Name: "listSessions", Method: http.MethodGet, Path: "/api/sessions", Summary: "List the sessions.",
			Params: []Parameter{closedParam}, Result: of[protocol.ListResult], handle: answer((*api).sessions),
		},
		{
			Name: "followSessions", Method: http.MethodGet, Path: "/api/sessions/events",
			Summary: "Follow the session list as server-sent events.", Media: []string{eventStream},
			Result: of[protocol.ListResult], handle: (*api).listEvents,
		},
		{
			Name: "getSession", Method: http.MethodGet, Path: "/api/sessions/{id}",
			Summary: "Get a row of the session list.", Result: of[protocol.Summary], handle: answer((*api).session),
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
			handle: answer((*api).messages),
		},
		{
			Name: "sendMessage", Method: http.MethodPost, Path: "/api/sessions/{id}/messages", Verb: protocol.DoSend,
			Summary: "Send a message, and wait for its turn on request.", Params: []Parameter{waitParam, timeoutParam},
			Result: of[MessageResult], handle: (*api).send,
		},
		{
			Name: "getMessage", Method: http.MethodGet, Path: "/api/sessions/{id}/messages/{message_id}",
			Summary: "Get what became of a message, and wait for its turn on request.",
			Params:  []Parameter{waitParam, timeoutParam}, Result: of[MessageResult], handle: answer((*api).message),
		},
		{
			Name: "getQueue", Method: http.MethodGet, Path: "/api/sessions/{id}/queue",
			Summary: "List the queued messages and the holds.", Result: of[QueueResult], handle: answerState(queue),
		},
		{
			Name: "listApprovals", Method: http.MethodGet, Path: "/api/sessions/{id}/approvals",
			Summary: "List the pending requests.", Result: of[ApprovalsResult], handle: answerState(approvals),
		},
		{
			Name: "getOptions", Method: http.MethodGet, Path: "/api/sessions/{id}/options",
			Summary: "Get the settings and commands of the agent.", Result: of[protocol.Options],
			handle: answerState(options),
		},
		{
			Name: "exportDocument", Method: http.MethodGet, Path: "/api/sessions/{id}/export",
			Summary: "Export a session as a document.", Params: []Parameter{formatParam},
			Media:  []string{"text/markdown", "text/html", "application/x-ndjson", "application/x-asciicast"},
			handle: (*api).export,
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
