//go:build interop

package openapi

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A shell runs each line of the page with curl.
func TestCurlRunsEveryLineOfThePage(t *testing.T) {
	url, _ := servePage(t)
	vars := map[string]string{"URL": url, "AUTH": "Authorization: Bearer secret"}
	runPage(t, vars, func(l *line) (method, path string, answer []byte) {
		r := parseCurl(t, l.text, vars)
		text := strings.Replace(l.text, "curl ", "curl -sS --fail-with-body ", 1)
		if strings.HasSuffix(r.URL.Path, "/events") {
			text += " --max-time 2 2>/dev/null | head -c 6" // a stream does not end
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-c", text)
		cmd.Env = os.Environ()
		for name, value := range vars {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil || stdout.Len() == 0 {
			t.Errorf("%v: %s%s", err, stdout.Bytes(), stderr.Bytes())
		}
		return r.Method, r.URL.Path, stdout.Bytes()
	})
}
