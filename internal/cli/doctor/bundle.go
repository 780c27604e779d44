package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"agentctl/internal/agents"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/host"
	"agentctl/internal/cli/sessionlog"
	"agentctl/internal/cli/verb"
	"agentctl/internal/config"
	"agentctl/internal/download"
	"agentctl/internal/exit"
	"agentctl/internal/serverlog"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// logLines is the number of lines at the end of a server's log that are read.
const logLines = 500

// bundleEvents is the number of events of a session that a bundle has.
const bundleEvents = 100

// A bundle is a report of a bug: a text in sections. It has no text of users, agents or providers,
// no path, and no name that a user chose.
type bundle struct {
	text     bytes.Buffer
	Sections []bundleSection
}

// A bundleSection is what one section has.
type bundleSection struct {
	Section string `json:"section"`
	Lines   int    `json:"lines"`
}

func (b *bundle) section(name string) {
	if b.text.Len() > 0 {
		b.text.WriteString("\n")
	}
	fmt.Fprintf(&b.text, "[%s]\n", name)
	b.Sections = append(b.Sections, bundleSection{Section: name})
}

func (b *bundle) linef(format string, args ...any) {
	fmt.Fprintf(&b.text, format+"\n", args...)
	b.Sections[len(b.Sections)-1].Lines++
}

// isServerVersion reports whether a text has the form of the version that a server of agentctl
// reports.
func isServerVersion(text string) bool {
	version, ok := strings.CutPrefix(text, "agentctl ")
	return ok && len(version) <= 80 && strings.Trim(version, "()0123456789.-+abcdefghijklmnopqrstuvwxyz") == ""
}

// versions adds the versions of this program and of the server; nil: it was not reached.
func (b *bundle) versions(build *verb.Build, hello *protocol.HelloResult) {
	b.section("versions")
	program := "agentctl " + build.Version()
	if revision, date, modified := build.Revision(); revision != "" {
		program += fmt.Sprintf(", commit %s of %s, modified: %v", revision, date, modified)
	}
	b.linef("%s", program)
	b.linef("%s, %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	switch {
	case hello == nil:
		b.linef("server: not reached")
	case isServerVersion(hello.Server):
		b.linef("server: %s", hello.Server)
	default:
		b.linef("server: another name, %d bytes", len(hello.Server))
	}
}

// publicDetails are the checks whose details have only numbers and words of this program: always, or
// if the check is ok.
var publicDetails = map[string]string{
	"disk": "", "open files": "", "server files": "", "process": "",
	"sessions": checkOK, "agentctl acp": checkOK, "sandbox workspace": checkOK, "sandbox read-only": checkOK,
}

// checks adds the results of the checks. Of other details it adds the length.
func (b *bundle) checks(checks []check) {
	b.section("checks")
	presets := new(agents.Registry).Names()
	for _, c := range checks {
		name, detail := c.Check, fmt.Sprintf("text of %d bytes", len(c.Detail))
		if of, public := publicDetails[name]; public && (of == "" || of == c.Status) {
			detail = c.Detail
		}
		for _, kind := range []string{"agent", "hook", "mcp", "provider"} {
			named, ok := strings.CutPrefix(name, kind+" ")
			if ok && (kind != "agent" || !slices.Contains(presets, named)) {
				name = fmt.Sprintf("%s with a name of %d bytes", kind, len(named))
			}
		}
		b.linef("%-4s  %s: %s", c.Status, name, detail)
	}
}

// configuration adds the settings of a file: the values of publicConfig, and the shapes of others.
func (b *bundle) configuration(name, path string, t reflect.Type) {
	b.section(name)
	text, err := os.ReadFile(path)
	switch {
	case path == "" || errors.Is(err, fs.ErrNotExist):
		b.linef("no file")
	case err != nil:
		b.linef("cannot be read")
	default:
		s := shape{public: publicValue, line: func(path, is string) { b.linef("%s: %s", path, is) }}
		s.describe(text, t)
	}
}

// log adds the last lines of the server's log.
func (b *bundle) log(path string) {
	b.section("log of the server")
	tail, err := serverlog.OpenTail(path)
	if err != nil {
		b.linef("no file")
		return
	}
	defer func() { _ = tail.Close() }() // only read
	lines, err := tail.Last(logLines)
	if err != nil {
		b.linef("cannot be read")
	}
	for _, line := range lines {
		r, ok := serverlog.ParseRecord(line)
		if !ok {
			b.linef("not a record, %d bytes", len(line))
			continue
		}
		message := fmt.Sprintf("message of %d bytes", len(r.Message))
		if serverlog.IsConstant(r.Message) || protocol.EventTypeOf(protocol.Type(r.Message)) != nil {
			message = r.Message
		}
		if serverlog.IsConstant(r.Code) {
			message += ", code " + r.Code
		}
		b.linef("%s %s %s", r.Time.UTC().Format(protocol.TimeFormat), r.Level, message)
	}
}

// failed adds that a section could not be read, without the text of the error.
func (b *bundle) failed(err error) {
	code := exit.From(err).Code
	if code != exit.CodeUnreachable && !serverlog.IsConstant(string(code)) {
		code = protocol.CodeInternal
	}
	b.linef("not read: %s", code)
}

// session adds the last events of a session as shapes.
func (b *bundle) session(o *doctorOptions, c *connection.Conn) error {
	snapshot, err := c.Snapshot(o.Session)
	if err != nil {
		return err
	}
	var last []*protocol.Event
	since := protocol.Position{Seq: snapshot.Snapshot.State.Seq - min(snapshot.Snapshot.State.Seq, bundleEvents)}
	r := sessionlog.Reader{Conn: c, CLI: o.CLI, Session: snapshot.Snapshot.State.Session, Raw: true}
	err = r.Read(since, func(item wsclient.Item) error {
		if item.Event != nil {
			last = append(last[max(0, len(last)-bundleEvents+1):], item.Event)
		}
		return nil
	})
	for _, e := range last {
		b.event(e)
	}
	return err
}

// event adds one event. Of its data it adds types, names of fields and lengths.
func (b *bundle) event(e *protocol.Event) {
	name, data := fmt.Sprintf("unknown type of %d bytes", len(e.Type)), reflect.Type(nil)
	if known := protocol.EventTypeOf(e.Type); known != nil {
		name, data = string(e.Type), reflect.TypeOf(known.New())
	}
	var fields []string
	s := shape{line: func(path, is string) { fields = append(fields, path+": "+is) }}
	s.describe(e.Data, data)
	b.linef("%d %s %s {%s}", e.Seq, e.Time.UTC().Format(protocol.TimeFormat), name, strings.Join(fields, "; "))
}

// makeBundle collects a bundle. It reads and sends nothing but requests to the server.
func (o *doctorOptions) makeBundle(ctx context.Context, checks []check) *bundle {
	b := new(bundle)
	c, err := connection.Open(ctx, o.CLI)
	if err != nil {
		b.versions(&o.CLI.Build, nil)
	} else {
		defer c.Close()
		hello := c.Hello()
		b.versions(&o.CLI.Build, &hello)
	}
	b.checks(checks)
	path, _ := config.UserPath(o.CLI.Env)
	b.configuration("configuration", path, reflect.TypeFor[config.User]())
	if o.CLI.Flags.Server == "" {
		if dir, err := o.CLI.DataDir(); err == nil {
			path := host.ConfigPath(o.CLI.Env, dir)
			b.configuration("configuration of the server", path, reflect.TypeFor[config.Server]())
			b.log(dir.LogPath())
		}
	}
	if o.Session != "" {
		b.section("last events of the session")
		if err == nil {
			err = b.session(o, c)
		}
		if err != nil {
			b.failed(err)
		}
	}
	return b
}

// writeBundle writes the file of --bundle, and prints what it has.
func (o *doctorOptions) writeBundle(b *bundle) error {
	if err := download.Save(o.Bundle, b.text.Bytes()); err != nil {
		return fmt.Errorf("--bundle: %w", err)
	}
	result := struct {
		Bundle   string          `json:"bundle"`
		Sections []bundleSection `json:"sections"`
	}{o.Bundle, b.Sections}
	return o.CLI.Out.Print(result, func(w io.Writer) {
		fmt.Fprintf(w, "\nwrote %s; nothing was sent. Read it before you pass it on. It has:\n", o.Bundle)
		for _, s := range b.Sections {
			fmt.Fprintf(w, "  %s: %d lines\n", s.Section, s.Lines)
		}
	})
}
