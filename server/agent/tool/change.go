package tool

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent/llm"
)

// A change is the effect of a call on one file. old is the file that the call was checked against.
type change struct {
	place place
	old   content
	new   content // exists is false: the file is removed
}

// A changeSet holds all file changes of a call. It is applied completely or not at all.
type changeSet []change

// find returns the place of a path in a set; nil: the set does not change it.
func (s changeSet) find(p *place) *change {
	for i := range s {
		if s[i].place.real == p.real {
			return &s[i]
		}
	}
	return nil
}

// check returns the first file that is not as it was.
func (s changeSet) check() error {
	for i := range s {
		c := &s[i]
		now, err := c.place.read()
		if err != nil {
			return err
		}
		if !now.same(&c.old) {
			return fmt.Errorf("%s was changed by another program: nothing was written; read it again",
				c.place.shown)
		}
	}
	return nil
}

// kind returns the kind of the tool call that makes the change.
func (c *change) kind() string {
	switch {
	case !c.new.exists:
		return "delete"
	case !c.old.exists:
		return "add"
	}
	return "update"
}

// summary lists the changes, one a line.
func (s changeSet) summary() string {
	var b strings.Builder
	for i := range s {
		fmt.Fprintf(&b, "%s %s\n", s[i].kind(), s[i].place.shown)
	}
	return b.String()
}

// preview returns the preview of a set.
func (s changeSet) preview(title string) llm.Preview {
	p := llm.Preview{Title: title, Contained: true, Request: protocol.Approval{Kind: protocol.ApprovePatch}}
	for i := range s {
		c := &s[i]
		p.Locations = append(p.Locations, protocol.Location{Path: c.place.real})
		p.Request.Paths = append(p.Request.Paths, c.place.real)
		p.Content = append(p.Content, c.diff())
		if c.place.outside || c.place.protected() {
			p.Contained = false
		}
	}
	p.Request.Why, p.Basis = s.warning(), s.basis()
	return p
}

// basis identifies the files of a set with their contents before and after.
func (s changeSet) basis() string {
	h := sha256.New()
	for i := range s {
		before, after := s[i].old.hash(), s[i].new.hash()
		fmt.Fprintf(h, "%q %t %x %t %x\n", s[i].place.real, s[i].old.exists, before, s[i].new.exists, after)
	}
	return base64.RawStdEncoding.EncodeToString(h.Sum(nil))
}

// warning returns what users should know about the files, or "".
func (s changeSet) warning() string {
	var outside, protected []string
	for i := range s {
		switch p := &s[i].place; {
		case p.outside:
			outside = append(outside, p.shown)
		case p.protected():
			protected = append(protected, p.shown)
		}
	}
	var warnings []string
	if outside != nil {
		warnings = append(warnings, "outside of the session's directory: "+strings.Join(outside, ", "))
	}
	if protected != nil {
		const about = "files that can run programs or change what agents may do: "
		warnings = append(warnings, about+strings.Join(protected, ", "))
	}
	return strings.Join(warnings, "; ")
}

// maxDiff bounds the texts of a diff for people, in bytes. Longer texts lose unchanged lines around
// the change.
const maxDiff = 32 << 10

// diff returns the change for people.
func (c *change) diff() protocol.Content {
	d := protocol.Content{Type: "diff", Path: c.place.real}
	before, after := string(c.old.bytes), string(c.new.bytes)
	if len(before)+len(after) > maxDiff && c.old.exists && c.new.exists {
		before, after = trimCommon(before, after)
	}
	d.New = protocol.ValidText(after)
	if c.old.exists {
		d.Old = new(protocol.ValidText(before))
	}
	return d
}

// trimCommon removes common leading and trailing lines of two texts, except for three on each side.
func trimCommon(a, b string) (string, string) {
	const around = 3
	n := commonLines(a, b, around)
	a, b = a[n:], b[n:]
	m := 0
	for m < min(len(a), len(b)) && a[len(a)-1-m] == b[len(b)-1-m] {
		m++
	}
	for range around + 1 { // the first may be a part of a line
		i := strings.IndexByte(a[len(a)-m:], '\n')
		if i < 0 {
			return a, b
		}
		m -= i + 1
	}
	return a[:len(a)-m], b[:len(b)-m]
}

// commonLines returns the length of the lines that two texts begin with, without the last n.
func commonLines(a, b string, n int) int {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	i = strings.LastIndexByte(a[:i], '\n') + 1
	for range n {
		i = strings.LastIndexByte(a[:max(0, i-1)], '\n') + 1
	}
	return i
}

// errRestore is the error of a set that was applied in part.
var errRestore = errors.New("these files could not be restored")
