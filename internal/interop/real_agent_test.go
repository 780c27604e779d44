//go:build interop

package interop

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// A realAgent is a pinned release of an agent and its setup for the fake model.
type realAgent struct {
	name      string
	program   string   // path below node_modules
	args      []string // arguments of program
	shellTool string   // name of its shell tool
	writeTool string   // name of its tool that writes a file
	pathParam string   // writeTool's parameter for the path
	mode      string   // a mode other than the initial one
	env       func(home, endpoint string) map[string]string
	files     func(endpoint string) map[string]any // settings files, by path below its home
	backdate  func(home string) error              // makes its conversations look older; nil: not needed
}

var realAgents = []realAgent{
	{
		name: "gemini-cli", program: ".bin/gemini", args: []string{
			"--acp", "-m",
			"gemini-2.5-flash",
		}, shellTool: "run_shell_command", writeTool: "write_file", pathParam: "file_path", mode: "plan",
		env: func(_, endpoint string) map[string]string {
			return map[string]string{
				"GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": endpoint, "GEMINI_CLI_NO_RELAUNCH": "true",
			}
		},
		files: func(string) map[string]any {
			return map[string]any{".gemini/settings.json": obj{
				"security": obj{"auth": obj{"selectedType": "gemini-api-key"}},
				"privacy":  obj{"usageStatisticsEnabled": false},
				"general":  obj{"enableAutoUpdate": false},
			}}
		},
		backdate: backdateGemini,
	},
	{
		name: "opencode", program: "opencode-linux-x64/bin/opencode", args: []string{"acp"}, shellTool: "bash",
		writeTool: "write", pathParam: "filePath", mode: "plan",
		env: func(home, _ string) map[string]string {
			return map[string]string{
				"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1",
				"XDG_CONFIG_HOME": home + "/.config", "XDG_DATA_HOME": home + "/.local/share",
				"XDG_STATE_HOME": home + "/.local/state", "XDG_CACHE_HOME": home + "/.cache",
			}
		},
		files: func(endpoint string) map[string]any {
			return map[string]any{".config/opencode/opencode.json": obj{
				"enabled_providers": []string{"fake"}, "model": "fake/fake-model", "small_model": "fake/fake-model",
				"permission": obj{"bash": "ask", "edit": "ask"},
				"provider": obj{"fake": obj{
					"npm": "@ai-sdk/openai-compatible", "options": obj{"baseURL": endpoint + "/v1", "apiKey": "x"},
					"models": obj{"fake-model": obj{}},
				}},
			}}
		},
	},
}

type obj = map[string]any

// config writes the agent's settings into home and returns its entry in a server's configuration.
// It fails the test if the agent is not installed.
func (a *realAgent) config(t *testing.T, home, endpoint string) obj {
	t.Helper()
	program, err := filepath.Abs(filepath.Join("node_modules", a.program))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("%s is not installed, run internal/interop/install: %v", a.name, err)
	}
	for name, content := range a.files(endpoint) {
		b, err := json.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := a.env(home, endpoint)
	env["HOME"] = home
	return obj{"command": program, "args": a.args, "env": env}
}

// backdateGemini renames conversation files to an older time. This release names each file by its
// start minute, and a load within the same minute overwrites the file before reading it.
func backdateGemini(home string) error {
	files, err := filepath.Glob(filepath.Join(home, ".gemini/tmp/*/chats/session-*"))
	if err != nil {
		return err
	}
	began := regexp.MustCompile(`session-\d{4}-\d\d-\d\dT\d\d-\d\d-`)
	for _, f := range files {
		aged := began.ReplaceAllString(filepath.Base(f), "session-2026-01-01T00-00-")
		if err := os.Rename(f, filepath.Join(filepath.Dir(f), aged)); err != nil {
			return err
		}
	}
	return nil
}
