package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"agentctl/tui/keymap"

	"agentctl/tui"
)

// A personal is what a person prefers: the client's configuration file, JSON that is read strictly. Flags and environment win
// over it. It holds no credential.
type personal struct {
	Server  string      `json:"server"`  // instead of the local one
	Dialect string      `json:"dialect"` // that it speaks
	As      string      `json:"as"`      // what actions are attributed to
	Theme   tui.Theme   `json:"theme"`
	Color   *bool       `json:"color"`  // false: none
	Mouse   bool        `json:"mouse"`  // take it
	Bell    *bool       `json:"bell"`   // false: never ring
	Notify  *bool       `json:"notify"` // false: never show a notification
	Keep    int         `json:"keep"`   // sessions that stay followed; 0: as usual
	Keys    keymap.Keys `json:"keys"`   // action → keys
}

// off tells that a thing that is on by itself is not wanted.
func off(b *bool) bool { return b != nil && !*b }

// personalPath is where the file is, and whether it was named: then it has to be there. Empty: there is no place for one.
func (a *app) personalPath() (path string, named bool) {
	if path := a.env("AGENTCTL_CONFIG"); path != "" {
		return path, true
	}
	dir := a.env("XDG_CONFIG_HOME")
	switch home := a.env("HOME"); {
	case runtime.GOOS == "windows" || runtime.GOOS == "darwin":
		dir, _ = os.UserConfigDir() // without one there is no file
	case !filepath.IsAbs(dir) && home != "":
		dir = filepath.Join(home, ".config")
	}
	if dir == "" {
		return "", false
	}
	return filepath.Join(dir, "agentctl", "config.json"), false
}

// readPersonal reads what this person prefers; nothing when there is no file.
func (a *app) readPersonal() (personal, error) {
	path, named := a.personalPath()
	if path == "" {
		return personal{}, nil
	}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return personal{}, nil
	}
	if err != nil {
		return personal{}, usagef("configuration: %w", err).hinting("AGENTCTL_CONFIG names the file")
	}
	p, wrong := parsePersonal(b)
	if wrong != nil {
		return personal{}, usagef("configuration %s:%d: %w", path, wrong.line, wrong.err).hinting("%s", wrong.todo)
	}
	return p, nil
}

// A wrongLine says what is wrong in a file, where, and what to do about it.
type wrongLine struct {
	line int // from 1
	err  error
	todo string
}

// parsePersonal reads the file's text. An empty one says nothing.
func parsePersonal(b []byte) (p personal, _ *wrongLine) {
	if len(bytes.TrimSpace(b)) == 0 {
		return p, nil
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	err := d.Decode(&p)
	if err == nil {
		if _, end := d.Token(); end != io.EOF {
			return personal{}, &wrongLine{lineAt(b, d.InputOffset()), errors.New("something follows the JSON value"), "the file is one object"}
		}
		if name, err := p.check(); err != nil {
			return personal{}, &wrongLine{lineOf(b, name), err, "see: agentctl attach --help"}
		}
		return p, nil
	}
	return personal{}, explain(b, err)
}

// explain finds where reading failed.
func explain(b []byte, err error) *wrongLine {
	const names = "it may hold as, bell, color, dialect, keep, keys, mouse, notify, server and theme"
	var syntax *json.SyntaxError
	var shape *json.UnmarshalTypeError
	unknown, is := strings.CutPrefix(err.Error(), "json: unknown field ")
	switch {
	case errors.As(err, &syntax):
		return &wrongLine{lineAt(b, syntax.Offset), errors.New(syntax.Error()), "it has to be JSON: no comments, no comma after the last one"}
	case errors.As(err, &shape):
		return &wrongLine{lineAt(b, shape.Offset), fmt.Errorf("%s cannot be a %s", shape.Field, shape.Value), "see: agentctl attach --help"}
	case is:
		return &wrongLine{lineOf(b, strings.Trim(unknown, `"`)), fmt.Errorf("there is no %s", unknown), names}
	}
	return &wrongLine{lineAt(b, int64(len(b))+1), errors.New("the file ends too early"), "it has to be JSON: a bracket is not closed"}
}

// check tells which name has a value that cannot be.
func (p *personal) check() (name string, err error) {
	if p.Theme != "" && !slices.Contains(tui.Themes(), p.Theme) {
		return "theme", fmt.Errorf("theme is %s, not %q", strings.Join(themes(), ", "), p.Theme)
	}
	if p.Server != "" {
		if err := checkURL(p.Server); err != nil {
			return "server", fmt.Errorf("server is ws://HOST:PORT, wss://HOST:PORT or unix:///PATH, not %q", p.Server)
		}
	}
	if p.Dialect != "" {
		if err := checkDialect(p.Dialect); err != nil {
			return "dialect", err
		}
		if p.Server == "" {
			return "dialect", errors.New("a dialect is about a server: name that too")
		}
	}
	if p.Keep < 0 {
		return "keep", fmt.Errorf("keep is 1 or more, not %d", p.Keep)
	}
	for action, keys := range p.Keys {
		if err := (keymap.Keys{action: keys}).Check(); err != nil {
			return action, err
		}
	}
	return "keys", p.Keys.Check()
}

// lineAt is the line of an offset.
func lineAt(b []byte, offset int64) int {
	return 1 + bytes.Count(b[:min(max(offset-1, 0), int64(len(b)))], []byte("\n"))
}

// lineOf is the line where a name is first given a value.
func lineOf(b []byte, name string) int {
	at := regexp.MustCompile(`"` + regexp.QuoteMeta(name) + `"\s*:`).FindIndex(b)
	if at == nil {
		return 1
	}
	return lineAt(b, int64(at[0])+1)
}

// prefer fills in what neither flags nor environment say. A server that they name is not the one of the file, and --data means
// the local one.
func (a *app) prefer() {
	a.personal, a.personalErr = a.readPersonal()
	g, p := &a.flags, &a.personal
	if g.Server == "" && !a.dataNamed {
		g.Server = p.Server
		if g.Dialect == "" {
			g.Dialect = p.Dialect
		}
	}
	if g.As == "" {
		g.As = p.As
	}
	g.NoColor = g.NoColor || off(p.Color)
}
