package main

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
		name string
		err  error
		exit int
		code protocol.Code
	}{
		{"anything", errors.New("odd"), exitError, codeInternal},
		{"wrong usage", usagef("no"), exitUsage, codeUsage},
		{"a deadline", fmt.Errorf("wait: %w", context.DeadlineExceeded), exitTimeout, protocol.CodeTimeout},
		{"no session", protocol.Errorf(protocol.CodeNoSession, "no"), exitNoSession, protocol.CodeNoSession},
		{"several sessions", protocol.Errorf(protocol.CodeAmbiguous, "no"), exitNoSession, protocol.CodeAmbiguous},
		{"forbidden", protocol.Errorf(protocol.CodeForbidden, "no"), exitForbidden, protocol.CodeForbidden},
		{"unauthorized", fmt.Errorf("send: %w", protocol.Errorf(protocol.CodeUnauthorized, "no")), exitForbidden, protocol.CodeUnauthorized},
		{"conflict", protocol.Errorf(protocol.CodeConflict, "no"), exitError, protocol.CodeConflict},
		{"unsupported", unsupportedf("later"), exitError, protocol.CodeUnsupported},
		{"nobody listens", &wsclient.ConnectError{URL: "ws://x", Err: errors.New("refused")}, exitUnreachable, codeUnreachable},
		{"dialling takes too long", &wsclient.ConnectError{URL: "ws://x", Err: context.DeadlineExceeded}, exitUnreachable, codeUnreachable},
		{"HTTP 401", &wsclient.ConnectError{URL: "ws://x", Status: 401, Code: protocol.CodeUnauthorized, Err: errors.New("401")}, exitForbidden, protocol.CodeUnauthorized},
		{"close code 1008", &wsclient.SendError{Err: &wsclient.ConnectError{Code: protocol.CodeForbidden, Err: errors.New("1008")}}, exitForbidden, protocol.CodeForbidden},
		{"another version", &wsclient.ConnectError{Code: protocol.CodeUnsupported, Err: errors.New("v2")}, exitError, protocol.CodeUnsupported},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if f := faultOf(tt.err); f.exit != tt.exit || f.code != tt.code {
				t.Errorf("exit %d code %s, want %d %s", f.exit, f.code, tt.exit, tt.code)
			}
		})
	}
}

// HTTP 401, 403 and close code 1008 are one and the same: who is not let in is told how to get in.
func TestWhoIsNotLetInIsToldToLogIn(t *testing.T) {
	for _, c := range []protocol.Code{protocol.CodeUnauthorized, protocol.CodeForbidden} {
		if f := faultOf(&wsclient.ConnectError{URL: "ws://x", Code: c, Err: errors.New("no")}); !strings.Contains(f.hint, "agentctl login") {
			t.Errorf("%s: %s", c, f.hint)
		}
	}
}

func TestATurnsEndDecidesTheExitCode(t *testing.T) {
	tests := []struct {
		end  protocol.TurnEndedData
		exit int
		code protocol.Code
	}{
		{protocol.TurnEndedData{Reason: protocol.ReasonCompleted}, exitDone, ""},
		{protocol.TurnEndedData{Reason: protocol.ReasonInterrupted}, exitInterrupted, codeInterrupted},
		{protocol.TurnEndedData{Reason: protocol.ReasonDenied}, exitInterrupted, codeInterrupted},
		{protocol.TurnEndedData{Reason: protocol.ReasonError, Code: protocol.CodeAgentFailed}, exitTurnFailed, protocol.CodeAgentFailed},
		{protocol.TurnEndedData{Reason: protocol.ReasonRefusal}, exitTurnFailed, codeTurnFailed},
		{protocol.TurnEndedData{Reason: protocol.ReasonMaxTokens}, exitTurnFailed, codeTurnFailed},
		{protocol.TurnEndedData{Reason: protocol.ReasonTimeout}, exitTurnFailed, codeTurnFailed},
		{protocol.TurnEndedData{Reason: "a reason of a later version"}, exitTurnFailed, codeTurnFailed},
	}
	for _, tt := range tests {
		t.Run(string(tt.end.Reason), func(t *testing.T) {
			err := turnFault(&tt.end)
			if tt.exit == exitDone {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if f := faultOf(err); f.exit != tt.exit || f.code != tt.code {
				t.Errorf("exit %d code %s, want %d %s", f.exit, f.code, tt.exit, tt.code)
			}
		})
	}
}

func TestAnErrorIsOneObjectOnStderr(t *testing.T) {
	var out, errs strings.Builder
	a := &app{stdout: &out, stderr: &errs, flags: globals{Output: formatJSON}}
	lost := protocol.Errorf(protocol.CodeConflict, "already decided")
	lost.Winner = &protocol.Winner{By: protocol.Actor{Name: "bob"}, Outcome: protocol.Denied}
	a.report(faultOf(fmt.Errorf("approve: %w", lost)))
	want := `{"error":{"code":"conflict","message":"approve: already decided: decided by bob (denied)","winner":{"by":{"name":"bob"},"outcome":"denied"}}}` + "\n"
	if errs.String() != want || out.Len() > 0 {
		t.Errorf("stderr %s\nwant   %sstdout %q", errs.String(), want, out.String())
	}
}

func TestAnErrorCannotSteerTheTerminal(t *testing.T) {
	var errs strings.Builder
	a := &app{stderr: &errs}
	a.report(faultOf(protocol.Errorf(protocol.CodeNoSession, "no \x1b[31mred\x1b]0;title\a session")))
	if got := errs.String(); strings.ContainsAny(got, "\x1b\a") || !strings.HasPrefix(got, "agentctl: no red session\n  see") {
		t.Errorf("stderr %q", got)
	}
}
