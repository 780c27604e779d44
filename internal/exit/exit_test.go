package exit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/wsclient"
)

func TestEveryErrorHasItsExitCode(t *testing.T) {
	tests := []struct {
		name   string
		err    error
		status int
		code   protocol.Code
	}{
		{"anything", errors.New("odd"), Failure, protocol.CodeInternal},
		{"wrong usage", Usagef("no"), Usage, CodeUsage},
		{"a deadline", fmt.Errorf("wait: %w", context.DeadlineExceeded), Timeout, protocol.CodeTimeout},
		{"no session", protocol.Errorf(protocol.CodeNoSession, "no"), NoSession, protocol.CodeNoSession},
		{"several sessions", protocol.Errorf(protocol.CodeAmbiguous, "no"), NoSession, protocol.CodeAmbiguous},
		{"forbidden", protocol.Errorf(protocol.CodeForbidden, "no"), Forbidden, protocol.CodeForbidden},
		{
			"unauthorized", fmt.Errorf("send: %w", protocol.Errorf(protocol.CodeUnauthorized, "no")), Forbidden,
			protocol.CodeUnauthorized,
		},
		{"conflict", protocol.Errorf(protocol.CodeConflict, "no"), Failure, protocol.CodeConflict},
		{"unsupported", Unsupportedf("later"), Unsupported, protocol.CodeUnsupported},
		{
			"unsupported by the server", fmt.Errorf("send: %w", protocol.Errorf(protocol.CodeUnsupported, "no")),
			Unsupported,
			protocol.CodeUnsupported,
		},
		{
			"connection refused", &wsclient.ConnectError{URL: "ws://x", Err: errors.New("refused")}, Unreachable,
			CodeUnreachable,
		},
		{
			"dialling takes too long", &wsclient.ConnectError{URL: "ws://x", Err: context.DeadlineExceeded},
			Unreachable,
			CodeUnreachable,
		},
		{"HTTP 401", &wsclient.ConnectError{
			URL: "ws://x", Status: 401, Code: protocol.CodeUnauthorized,
			Err: errors.New("401"),
		}, Forbidden, protocol.CodeUnauthorized},
		{"close code 1008", &wsclient.SendError{Err: &wsclient.ConnectError{
			Code: protocol.CodeForbidden,
			Err:  errors.New("1008"),
		}}, Forbidden, protocol.CodeForbidden},
		{
			"another version", &wsclient.ConnectError{Code: protocol.CodeUnsupported, Err: errors.New("v2")}, Failure,
			protocol.CodeUnsupported,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if e := From(tt.err); e.Status != tt.status || e.Code != tt.code {
				t.Errorf("exit %d code %s, want %d %s", e.Status, e.Code, tt.status, tt.code)
			}
		})
	}
}

// HTTP 401, 403 and close code 1008 have the same hint.
func TestAnUnauthorizedUserIsAdvisedToLogIn(t *testing.T) {
	for _, c := range []protocol.Code{protocol.CodeUnauthorized, protocol.CodeForbidden} {
		e := From(&wsclient.ConnectError{URL: "ws://x", Code: c, Err: errors.New("no")})
		if !strings.Contains(e.Hint, "agentctl login") {
			t.Errorf("%s: %s", c, e.Hint)
		}
	}
}

// A server that answers runs: the hint is about the answer.
func TestAServerThatAnswersIsNotToBeStarted(t *testing.T) {
	for want, e := range map[string]*wsclient.ConnectError{
		"not at this path":    {Status: 404, Code: protocol.CodeNotFound, Err: errors.New("not found")},
		"close other clients": {Status: 503, Code: protocol.CodeConnectionLimit, Err: errors.New("full")},
		"use wss://":          {URL: "ws://box", Status: 400, Err: errors.New("HTTP 400 Bad Request")},
		"another service":     {URL: "ws://box", Status: 501, Err: errors.New("HTTP 501")},
		"use ws://":           {Err: errors.New("http: server gave HTTP response to HTTPS client")},
	} {
		if got := From(e); got.Status != Unreachable || !strings.Contains(got.Hint, want) {
			t.Errorf("%v: exit %d, hint %q, want %q", e, got.Status, got.Hint, want)
		}
	}
}

// A hint names only commands that the dialect, the role and the server accept.
func TestAHintFitsTheServer(t *testing.T) {
	reader := []protocol.Verb{protocol.DoList, protocol.DoSnapshot}
	held := Errorf(NeedsPerson, CodeNeedsPerson, "held").WithHint("agentctl queue release fix").
		Needs(protocol.DoQueueRelease)
	noSession := From(protocol.Errorf(protocol.CodeNoSession, "no"))
	unauthorized := From(&wsclient.ConnectError{URL: "ws://x", Code: protocol.CodeUnauthorized, Err: errors.New("no")})
	unreachable := From(&wsclient.ConnectError{URL: "ws://x", Err: errors.New("no")})
	for _, c := range []struct {
		e    *Error
		at   Peer
		want string // in the hint; "": no hint
	}{
		{held, Peer{}, "agentctl queue release"},
		{held, Peer{Commands: []protocol.Verb{protocol.DoQueueRelease}}, "agentctl queue release"},
		{held, Peer{Commands: reader}, ""},
		{held, Peer{Dialect: "sandcastle"}, ""},
		{held, Peer{Dialect: "multiagent"}, ""}, // only for a client that stays
		{held, Peer{Dialect: "effectiveagent"}, "agentctl queue release"},
		{noSession, Peer{Commands: reader}, "agentctl ls"},
		{noSession, Peer{Dialect: "sandcastle"}, ""},
		{noSession, Peer{Dialect: "agentloop"}, "agentctl ls"},
		{noSession, Peer{Dialect: "agentloop", Ephemeral: true}, ""},
		{unauthorized, Peer{}, "agentctl login"},
		{unauthorized, Peer{Dialect: "myagent"}, "pass a credential"},
		{unauthorized, Peer{Dialect: "multiagent"}, "agentctl login"},
		{unreachable, Peer{}, "agentctl serve"},
		{unreachable, Peer{Dialect: "agentloop"}, "check its address"},
	} {
		before := *c.e
		got := c.e.At(c.at).Hint
		if (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) && !strings.Contains(got, c.want) {
			t.Errorf("%v at %+v: hint %q, want %q", c.e, c.at, got, c.want)
		}
		if c.at.Dialect == "myagent" && strings.Contains(got, "agentctl login") || *c.e != before {
			t.Errorf("%v at %+v: hint %q, changed to %+v", c.e, c.at, got, c.e)
		}
	}
}

func TestAnErrorKeepsItsStatusWhenWrapped(t *testing.T) {
	e := Errorf(NeedsPerson, CodeNeedsPerson, "held").WithHint("release %s", "it")
	if got := From(fmt.Errorf("send: %w", e)); got != e || got.Hint != "release it" {
		t.Errorf("%+v", got)
	}
	if got := From(Silent(Failure)); got.Status != Failure || got.Err != nil || got.Error() == "" {
		t.Errorf("%+v", got)
	}
}
