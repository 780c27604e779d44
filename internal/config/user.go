package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"agentctl/internal/exit"
	"agentctl/internal/retired"
	"agentctl/internal/worktree"
	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/notify"
	"agentctl/tui/ui"
)

// A User is the configuration file of a user. Flags and environment override it. It holds no
// credential.
type User struct {
	Server  string `json:"server"`  // instead of the local one
	Dialect string `json:"dialect"` // of Server

	Servers map[string]NamedServer `json:"servers"` // by the name that --on selects

	As     string      `json:"as"` // name that actions are attributed to
	Mouse  bool        `json:"mouse"`
	Bell   *bool       `json:"bell"`   // nil: true
	Notify *bool       `json:"notify"` // nil: true
	Keep   int         `json:"keep"`   // sessions that stay subscribed; 0: the default
	Keys   keymap.Keys `json:"keys"`   // by action

	Theme  ui.Theme `json:"theme"`
	Color  *bool    `json:"color"`  // nil: true
	Images string   `json:"images"` // "off": as lines of text

	NotifyStates []notify.State `json:"notify_states"` // announced states; none: all
	NotifyLabels []string       `json:"notify_labels"` // KEY or KEY=VALUE of the sessions; none: all

	PassEnv  []string  `json:"pass_env"` // variables that new sessions get from the shell: names, or PREFIX_*
	Worktree Worktrees `json:"worktree"`

	retired []retired.Name // that the file has
}

// Retired returns the names in the file that earlier versions knew: settings and actions.
func (u *User) Retired() []retired.Name { return u.retired }

// Worktrees describe the git worktrees of new sessions.
type Worktrees struct {
	Path  string   `json:"path"`  // template of the directory; "": worktree.DefaultPath
	Setup []string `json:"setup"` // command that prepares a worktree, without a shell; none: no command
}

// check returns an error if a value is invalid.
func (w *Worktrees) check() error {
	if len(w.Setup) > 0 && w.Setup[0] == "" {
		return errors.New("invalid worktree.setup: want a command and its arguments")
	}
	if w.Path == "" {
		return nil
	}
	if err := worktree.CheckPath(w.Path); err != nil {
		return fmt.Errorf("invalid worktree.path: %w", err)
	}
	return nil
}

// NoColor reports whether colours are off.
func (u *User) NoColor() bool { return isFalse(u.Color) }

// NoBell reports whether the bell is off.
func (u *User) NoBell() bool { return isFalse(u.Bell) }

// NoNotify reports whether notifications are off.
func (u *User) NoNotify() bool { return isFalse(u.Notify) }

func isFalse(b *bool) bool { return b != nil && !*b }

// UserPath returns the path of the user's file, or "" if the system has no place for it. named
// reports whether AGENTCTL_CONFIG names the file: then it must exist.
func UserPath(env func(string) string) (path string, named bool) {
	if path := env("AGENTCTL_CONFIG"); path != "" {
		return path, true
	}
	return pathIn(env, "config.json"), false
}

// ServerPath returns the default path of the server's configuration, or "" if the system has no
// place for it.
func ServerPath(env func(string) string) string { return pathIn(env, "server.json") }

// UserInstructions returns the path of the user's instructions for agents with a model, in all directories, or
// "" if the system has no place for it.
func UserInstructions(env func(string) string) string { return pathIn(env, "AGENTS.md") }

// pathIn returns the path of a file in the user's directory for configuration, or "".
func pathIn(env func(string) string, name string) string {
	dir := env("XDG_CONFIG_HOME")
	switch home := env("HOME"); {
	case runtime.GOOS == "windows" || runtime.GOOS == "darwin":
		dir, _ = os.UserConfigDir() // no directory, no file
	case !filepath.IsAbs(dir) && home != "":
		dir = filepath.Join(home, ".config")
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "agentctl", name)
}

// ReadUser reads the user's file. Without a file it returns the zero User.
func ReadUser(env func(string) string) (User, error) {
	path, named := UserPath(env)
	if path == "" {
		return User{}, nil
	}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return User{}, nil
	}
	if err != nil {
		return User{}, exit.Usagef("configuration: %w", err).WithHint("AGENTCTL_CONFIG names the file")
	}
	u, problem := parseUser(b)
	if problem != nil {
		return User{}, exit.Usagef("configuration %s:%d: %w", path, problem.line, problem.err).
			WithHint("%s", problem.hint)
	}
	return u, nil
}

const (
	helpHint  = "see: agentctl attach --help"
	namesHint = "the file may contain as, bell, color, dialect, images, keep, keys, mouse, notify, " +
		"notify_labels, notify_states, pass_env, server, servers, theme and worktree"
)

// A fileError is a problem in the file, with the line (from 1) and a hint.
type fileError struct {
	line int
	err  error
	hint string
}

// parseUser parses the text of the file, which may be empty.
func parseUser(b []byte) (u User, _ *fileError) {
	if len(bytes.TrimSpace(b)) == 0 {
		return u, nil
	}
	b, u.retired = withoutRetired(b, retired.Setting.Find)
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	err := d.Decode(&u)
	if err == nil {
		if _, end := d.Token(); end != io.EOF {
			return User{}, &fileError{
				lineAt(b, d.InputOffset()), errors.New("text after the JSON object"),
				"the file is one object",
			}
		}
		if name, err := u.check(); err != nil {
			return User{}, &fileError{lineOf(b, name), err, helpHint}
		}
		u.retired = append(u.retired, u.Keys.Retired()...)
		return u, nil
	}
	return User{}, locate(b, err)
}

// locate finds the line of an error of the JSON decoder.
func locate(b []byte, err error) *fileError {
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	field, unknown := strings.CutPrefix(err.Error(), "json: unknown field ")
	switch {
	case errors.As(err, &syntax):
		return &fileError{
			lineAt(b, syntax.Offset), errors.New(syntax.Error()),
			"the file must be JSON: no comments, no trailing comma",
		}
	case errors.As(err, &mismatch):
		return &fileError{
			lineAt(b, mismatch.Offset), fmt.Errorf("%s cannot be a %s", mismatch.Field, mismatch.Value),
			helpHint,
		}
	case unknown:
		name := strings.Trim(field, `"`)
		hint := namesHint
		if JSONFields(reflect.TypeFor[Server]())[name] != nil {
			hint = name + " is for the configuration of the server, server.json: see: agentctl serve --help"
		}
		return &fileError{lineOf(b, name), fmt.Errorf("unknown name %s", field), hint}
	}
	return &fileError{
		lineAt(b, int64(len(b))+1), errors.New("unexpected end of file"),
		"the file must be JSON: close every bracket",
	}
}

// check returns the first invalid value and its name in the file.
func (u *User) check() (name string, err error) {
	if u.Theme != "" && !slices.Contains(ui.Themes(), u.Theme) {
		return "theme", fmt.Errorf("invalid theme %q: want %s", u.Theme, strings.Join(Themes(), ", "))
	}
	// Images were drawn in other ways, too: kitty and blocks.
	if u.Images != "" && !slices.Contains([]string{"auto", "off", "kitty", "blocks"}, u.Images) {
		return "images", fmt.Errorf("invalid images %q: want auto or off", u.Images)
	}
	for _, name := range u.PassEnv {
		if stem := strings.TrimSuffix(name, "*"); stem == "" || strings.ContainsAny(stem, "=*\x00") {
			return "pass_env", fmt.Errorf("invalid variable %q: want NAME or PREFIX_*", name)
		}
	}
	if err := u.Worktree.check(); err != nil {
		return "worktree", err
	}
	if u.Server != "" && !isServerURL(u.Server) {
		return "server", fmt.Errorf("invalid server %q: want %s", u.Server, serverURLForms)
	}
	if u.Dialect != "" {
		if err := CheckDialect(u.Dialect); err != nil {
			return "dialect", err
		}
		if u.Server == "" {
			return "dialect", errors.New("dialect needs a server")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(u.Servers)) {
		if field, err := u.Servers[name].check(name); err != nil {
			return field, err
		}
	}
	if u.Keep < 0 {
		return "keep", fmt.Errorf("invalid keep %d: want 1 or more", u.Keep)
	}
	for _, state := range u.NotifyStates {
		if !slices.Contains(notify.States(), state) {
			return "notify_states", fmt.Errorf("invalid state %q: want waiting, failed or finished", state)
		}
	}
	for _, label := range u.NotifyLabels {
		key, value, _ := strings.Cut(label, "=")
		if err := protocol.CheckLabels(map[string]string{key: value}); err != nil {
			return "notify_labels", fmt.Errorf("invalid label %q: want KEY or KEY=VALUE", label)
		}
	}
	for action, keys := range u.Keys {
		if err := (keymap.Keys{action: keys}).Check(); err != nil {
			return action, err
		}
	}
	return "keys", u.Keys.Check()
}

// lineAt returns the line of an offset.
func lineAt(b []byte, offset int64) int {
	return 1 + bytes.Count(b[:min(max(offset-1, 0), int64(len(b)))], []byte("\n"))
}

// lineOf returns the line where a name first has a value, or 1.
func lineOf(b []byte, name string) int {
	at := regexp.MustCompile(`"` + regexp.QuoteMeta(name) + `"\s*:`).FindIndex(b)
	if at == nil {
		return 1
	}
	return lineAt(b, int64(at[0])+1)
}
