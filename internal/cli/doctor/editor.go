package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"agentctl/internal/output"
)

// editorTimeout bounds the start of agentctl acp.
const editorTimeout = 10 * time.Second

// checkEditor starts agentctl acp as an editor does, and checks its answer to initialize.
func (o *doctorOptions) checkEditor(ctx context.Context) check {
	c := check{"agentctl acp", checkOK, "answers editors"}
	ctx, cancel := context.WithTimeout(ctx, editorTimeout)
	defer cancel()
	flags := &o.CLI.Flags
	args := []string{"acp", "--no-start"}
	add := func(name, value string) {
		if value != "" {
			args = append(args, name, value)
		}
	}
	if add("--on", flags.On); flags.On == "" {
		add("--server", flags.Server)
	}
	add("--data", flags.Data)
	add("--fingerprint", flags.Fingerprint)
	program, err := os.Executable()
	var out []byte
	if err == nil {
		cmd := exec.CommandContext(ctx, program, args...)
		if flags.Token != "" {
			cmd.Env = append(os.Environ(), "AGENTCTL_TOKEN="+flags.Token)
		}
		cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}` + "\n")
		var failure bytes.Buffer
		cmd.Stderr = &failure
		if out, err = cmd.Output(); err != nil {
			err = fmt.Errorf("%w: %s", err, output.OneLine(failure.String(), 200))
		}
	}
	var answer struct {
		Result struct {
			Version int `json:"protocolVersion"`
		} `json:"result"`
	}
	if err == nil && (json.Unmarshal(out, &answer) != nil || answer.Result.Version != 1) {
		err = fmt.Errorf("unexpected answer: %s", output.OneLine(string(out), 200))
	}
	if err != nil {
		c.Status, c.Detail = checkBad, err.Error()
	}
	return c
}
