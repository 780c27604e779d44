package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"agentctl/protocol"
)

const maxRules = 1000

// ParseFile reads a policy file: JSON with the fields of protocol.PolicyFile, except the name. An
// error names the line and the field.
func ParseFile(name string, b []byte) (*protocol.PolicyFile, error) {
	f := &protocol.PolicyFile{Name: name}
	p := fileParser{text: b, d: json.NewDecoder(bytes.NewReader(b))}
	lists := map[string]*[]protocol.PolicyRule{"deny": &f.Deny, "ask": &f.Ask, "allow": &f.Allow}
	err := p.object(func(field string) error {
		if list := lists[field]; list != nil {
			return p.rules(field, list)
		}
		if field != "timeout" {
			return p.errorf("%s: unknown field: want deny, ask, allow or timeout", field)
		}
		if err := p.d.Decode(&f.Timeout); err != nil {
			return p.errorf("timeout: want a text such as %q", "5m")
		}
		if err := checkTimeout(f.Timeout); err != nil {
			return p.errorf("%w", err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return f, CheckFile(f)
}

// CheckFile returns the first invalid value of a policy file, with its field.
func CheckFile(f *protocol.PolicyFile) error {
	n := 0
	for _, list := range []struct {
		name  string
		rules []protocol.PolicyRule
	}{{"deny", f.Deny}, {"ask", f.Ask}, {"allow", f.Allow}} {
		for i := range list.rules {
			if err := checkRule(&list.rules[i], list.name == "allow"); err != nil {
				return fmt.Errorf("%s[%d]%w", list.name, i, err)
			}
		}
		n += len(list.rules)
	}
	if n > maxRules {
		return fmt.Errorf("%d rules, more than %d", n, maxRules)
	}
	return checkTimeout(f.Timeout)
}

func checkTimeout(text string) error {
	if d, err := time.ParseDuration(text); text != "" && (err != nil || d < 0) {
		return fmt.Errorf("timeout: invalid value %.40q: want a duration such as 5m, or 0s", text)
	}
	return nil
}

// checkRule returns an error that begins with the field. allow: the rule allows.
func checkRule(r *protocol.PolicyRule, allow bool) error {
	absolute := path.IsAbs(r.Path)
	_, err := path.Match(strings.ReplaceAll(r.Path, "**", "*"), "")
	switch {
	case r.Tool == "" && r.Program == "" && r.Path == "":
		return errors.New(": want tool, program or path")
	case r.Program != "" && r.Path != "":
		return errors.New(".path: a rule of a program has no path")
	case r.Subcommand != "" && r.Program == "":
		return errors.New(".program: a subcommand needs a program")
	case r.Exact && r.Program == "" && !allow:
		return errors.New(".exact: only a rule of a program, or a path in allow, is exact")
	case r.Exact && r.Program == "" && !isFileName(r.Path):
		return fmt.Errorf(".exact: want the path of one file in the directory, without * ? [ \\ and ..: %.80q", r.Path)
	case r.Program != "" && strings.ContainsAny(r.Program, " \t\n"):
		return fmt.Errorf(".program: %.40q is not one word: put the others into subcommand", r.Program)
	case allow && r.Program == "*":
		return errors.New(".program: * allows everything: name the programs")
	case err != nil:
		return fmt.Errorf(".path: invalid pattern %.80q", r.Path)
	case allow && (absolute || strings.HasPrefix(r.Path, "..")):
		return fmt.Errorf(".path: %.80q is not in the directory of the session: want a relative pattern", r.Path)
	}
	return nil
}

// isFileName reports whether a path is one file below the directory, spelled as the system does.
func isFileName(name string) bool {
	return !strings.ContainsAny(name, `*?[\`) && name == path.Clean(name) && name != "." && filepath.IsLocal(name)
}

// A fileParser reads a policy file and knows the line that it is at.
type fileParser struct {
	text []byte
	d    *json.Decoder
}

// errorf returns an error with the line.
func (p *fileParser) errorf(format string, args ...any) error {
	line := 1 + bytes.Count(p.text[:p.d.InputOffset()], []byte("\n"))
	return fmt.Errorf("line %d: %w", line, fmt.Errorf(format, args...))
}

func (p *fileParser) delim(want json.Delim) error {
	t, err := p.d.Token()
	if err != nil {
		return p.errorf("not JSON: %w", err)
	}
	if t != want {
		return p.errorf("want %s, found %.40v", want, t)
	}
	return nil
}

// object reads the only value, an object, with a function that reads the value of a field.
func (p *fileParser) object(value func(field string) error) error {
	if err := p.delim('{'); err != nil {
		return err
	}
	read := map[string]bool{}
	for p.d.More() {
		t, err := p.d.Token()
		if err != nil {
			return p.errorf("not JSON: %w", err)
		}
		field, _ := t.(string)
		if read[field] {
			return p.errorf("%s: the field is there twice", field)
		}
		read[field] = true
		if err := value(field); err != nil {
			return err
		}
	}
	if err := p.delim('}'); err != nil {
		return err
	}
	if p.d.More() {
		return p.errorf("text follows the object")
	}
	return nil
}

func (p *fileParser) rules(field string, list *[]protocol.PolicyRule) error {
	if err := p.delim('['); err != nil {
		return err
	}
	for i := 0; p.d.More(); i++ {
		var raw json.RawMessage
		if err := p.d.Decode(&raw); err != nil {
			return p.errorf("%s[%d]: not JSON: %w", field, i, err)
		}
		var r protocol.PolicyRule
		if err := protocol.DecodeStrict(raw, &r); err != nil {
			return p.errorf("%s[%d]: %w", field, i, err)
		}
		if err := checkRule(&r, field == "allow"); err != nil {
			return p.errorf("%s[%d]%w", field, i, err)
		}
		*list = append(*list, r)
	}
	return p.delim(']')
}
