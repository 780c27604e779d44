package policy

import (
	"os"
	"path/filepath"
	"slices"

	"agentctl/protocol"
	"agentctl/server/policy/commandline"
)

// An Effect is a part of a request without which the request is not carried out.
type Effect = commandline.Effect

// Effects returns the certain effects of a request whose directory is set and whose patch is
// classified. It looks at links and at whether files exist.
func Effects(a *protocol.Approval) (list []Effect) {
	switch rest, _ := a.RestArguments(); {
	case a.Kind == protocol.ApprovePatch:
		for _, path := range a.Paths {
			list = append(list, Effect{Files: []string{path}})
		}
		return list
	case a.Kind != protocol.ApproveCommand || a.Command == "" || rest != "" || !filepath.IsAbs(a.CWD):
		return nil
	}
	for _, e := range commandline.Read(a.Command, filepath.ToSlash(a.CWD)).Effects() {
		if effect, ok := resolved(e); ok {
			list = append(list, effect)
		}
	}
	return list
}

// resolved returns an effect with the files that a path may lead to: also without links, which the
// command may replace before. ok is false if the file is not changed, or not known.
func resolved(e Effect) (_ Effect, ok bool) {
	var files []string
	for _, file := range e.Files {
		_, err := os.Lstat(file)
		real, found := resolve(file)
		read, readable := resolve(filepath.Clean(file))
		if !found || !readable || e.Existing && err != nil || e.Missing && err == nil {
			return e, false
		}
		files = append(files, filepath.Clean(file), read, real)
	}
	slices.Sort(files)
	e.Files = slices.Compact(files)
	return e, true
}
