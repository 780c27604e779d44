package wire

import (
	"strings"
	"testing"
)

// MA-16: the document's eight codes and the real system's.
func TestTheCodesAreTheDocuments(t *testing.T) {
	got := []string{
		CodeBadRequest, CodeForbidden, CodeNotFound, CodeNotConfigured, CodeStreamError, CodeCancelled, CodeRequestFailed, CodeExecuteFailed,
		CodeRejected, CodeRejectFailed,
	}
	want := "bad_request forbidden not_found not_configured stream_error cancelled tool_request_failed " +
		"tool_execute_failed rejected tool_reject_failed"
	if strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
