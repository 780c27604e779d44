package fakeacp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Saved is the content of the file of a session.
type Saved struct {
	CWD     string   `json:"cwd"`
	Prompts []string `json:"prompts"`
}

const pageSize = 2 // of session/list

func (a *agent) sessionFile(id string) string { return filepath.Join(a.dir, filepath.Base(id)+".json") }

func (a *agent) saveSession(s *session) {
	if a.dir == "" {
		return
	}
	b, _ := json.Marshal(Saved{CWD: s.cwd, Prompts: s.prompts})
	_ = os.WriteFile(a.sessionFile(s.id), b, 0o600)
}

func readSaved(file string) (s Saved, err error) {
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	return s, err
}

// listSessions lists the saved sessions of a directory, or all, sorted by id.
func (a *agent) listSessions(m message) {
	if !a.has("list") {
		a.refuse(m.ID, -32601, "no such method: "+m.Method)
		return
	}
	if a.has("auth") && !a.loggedIn {
		a.refuse(m.ID, -32000, "Authentication required")
		return
	}
	var p struct{ CWD, Cursor string }
	_ = json.Unmarshal(m.Params, &p)
	list := []obj{}
	files, _ := filepath.Glob(filepath.Join(a.dir, "*.json"))
	slices.Sort(files)
	for _, file := range files {
		s, err := readSaved(file)
		if err != nil || p.CWD != "" && s.CWD != p.CWD {
			continue
		}
		info := obj{"sessionId": strings.TrimSuffix(filepath.Base(file), ".json"), "cwd": s.CWD}
		if len(s.Prompts) > 0 {
			info["title"] = s.Prompts[0]
		}
		if stat, err := os.Stat(file); err == nil {
			info["updatedAt"] = stat.ModTime().UTC().Format(time.RFC3339)
		}
		list = append(list, info)
	}
	start, _ := strconv.Atoi(p.Cursor)
	end := min(start+pageSize, len(list))
	result := obj{"sessions": list[start:end]}
	if end < len(list) {
		result["nextCursor"] = strconv.Itoa(end)
	}
	a.reply(m.ID, result)
}
