package pipeline

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// Bounds of the data kept about a turn.
const (
	maxChangedFiles  = 10_000
	maxConflicts     = 50
	maxConflictTasks = 20
	maxPath          = 1 << 10 // bytes
)

// changedFiles are the files that tasks of a turn changed, as their tools, not commands, report.
type changedFiles struct {
	dir string // of the session; static

	mu        sync.Mutex
	now       int                   // counts starts and ends of attempts
	attempts  map[string][]*attempt // by path
	running   []*attempt
	conflicts []protocol.FileConflict
}

// An attempt is the time in which a task runs.
type attempt struct {
	Task  string   `json:"task"`
	Title string   `json:"title"`
	Began int      `json:"began"`
	End   int      `json:"end,omitempty"`   // 0: it runs
	Paths []string `json:"paths,omitempty"` // of its files, as stored: those that fit
}

// begin notes the start of an attempt, or returns the one that continues after a restart.
func (c *changedFiles) begin(t *protocol.Task) *attempt {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.IndexFunc(c.running, func(a *attempt) bool { return a.Task == t.ID }); i >= 0 {
		return c.running[i]
	}
	c.now++
	a := &attempt{Task: t.ID, Title: t.Title, Began: c.now}
	c.running = append(c.running, a)
	return a
}

func (c *changedFiles) finish(a *attempt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now++
	a.End = c.now
	c.running = slices.DeleteFunc(c.running, func(o *attempt) bool { return o == a })
}

// add notes that a running attempt changed a file. It returns the titles of the other tasks that
// changed it while both ran, unless they were returned before.
func (c *changedFiles) add(a *attempt, path string) (others []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.attempts[path]
	if slices.Contains(before, a) || len(path) > maxPath || before == nil && len(c.attempts) >= maxChangedFiles {
		return nil
	}
	if c.attempts == nil {
		c.attempts = map[string][]*attempt{}
	}
	c.attempts[path] = append(before, a)
	for _, o := range before {
		overlap := o.End == 0 || o.End > a.Began
		if overlap && o.Task != a.Task && c.addConflict(path, o.Task, a.Task) {
			others = append(others, o.Title)
		}
	}
	return others
}

// addConflict records a conflict of two tasks and reports whether it is new.
func (c *changedFiles) addConflict(path string, tasks ...string) (added bool) {
	i := slices.IndexFunc(c.conflicts, func(f protocol.FileConflict) bool { return f.Path == path })
	if i < 0 {
		if len(c.conflicts) == maxConflicts {
			return false
		}
		i = len(c.conflicts)
		c.conflicts = append(c.conflicts, protocol.FileConflict{Path: path})
	}
	f := &c.conflicts[i]
	for _, id := range tasks {
		if !slices.Contains(f.Tasks, id) && len(f.Tasks) < maxConflictTasks {
			f.Tasks, added = append(f.Tasks, id), true
		}
	}
	return added
}

func (c *changedFiles) list() []protocol.FileConflict {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.conflicts)
}

// summary returns the conflicts in words, with the titles of tasks; empty: none.
func (c *changedFiles) summary(tasks []*task) string {
	titles := map[string]string{}
	for _, t := range tasks {
		titles[t.ID] = t.Title
	}
	var files []string
	for _, f := range c.list() {
		var by []string
		for _, id := range f.Tasks {
			by = append(by, strconv.Quote(titles[id]))
		}
		files = append(files, fmt.Sprintf("%s (%s)", f.Path, strings.Join(by, ", ")))
	}
	if files == nil {
		return ""
	}
	return "changed by several tasks while they ran, check them: " + strings.Join(files, "; ")
}

// name returns the path of a file as it is shown: relative within the directory of the session.
func (c *changedFiles) name(path string) string {
	path = strings.TrimPrefix(path, "file://")
	if !filepath.IsAbs(path) {
		return filepath.ToSlash(filepath.Clean(path))
	}
	if inside, err := filepath.Rel(c.dir, path); err == nil && filepath.IsLocal(inside) {
		path = inside
	}
	return filepath.ToSlash(filepath.Clean(path))
}

// A toolFiles has the files that a tool call may change: the files of its diffs, or else its
// locations if it is an editing tool.
type toolFiles struct {
	kind      string
	locations []string
	diffs     []string
}

// collectFiles notes the files of a call, and returns them when it is completed. The lock is held.
func (in *inner) collectFiles(e agent.Event) (changed []string) {
	if in.attempt == nil {
		return nil
	}
	switch d := e.Data.(type) {
	case protocol.ToolStartedData:
		f := in.toolFiles(d.Tool)
		f.kind = cmp.Or(d.Kind, f.kind)
		for _, l := range d.Locations {
			f.locations = append(f.locations, l.Path)
		}
	case protocol.ToolOutputData:
		f := in.toolFiles(d.Tool)
		if d.Replace {
			f.diffs = nil
		}
		for i := range d.Content {
			if d.Content[i].Type == "diff" && d.Content[i].Path != "" {
				f.diffs = append(f.diffs, d.Content[i].Path)
			}
		}
	case protocol.ToolEndedData:
		f := in.files[d.Tool]
		delete(in.files, d.Tool)
		switch {
		case f == nil || d.Status != protocol.ToolCompleted:
		case f.diffs != nil:
			return f.diffs
		case f.kind == protocol.ToolEdit, f.kind == protocol.ToolDelete, f.kind == protocol.ToolMove:
			return f.locations
		}
	}
	return nil
}

func (in *inner) toolFiles(tool string) *toolFiles {
	if in.files == nil {
		in.files = map[string]*toolFiles{}
	}
	if in.files[tool] == nil {
		in.files[tool] = new(toolFiles)
	}
	return in.files[tool]
}

// addChanges adds the files that a call changed. It returns a warning for each file that another task
// changed while both ran.
func (in *inner) addChanges(paths []string) (warnings []string) {
	for _, path := range paths {
		name := in.run.changed.name(path)
		for _, other := range in.run.changed.add(in.attempt, name) {
			warnings = append(warnings, fmt.Sprintf(
				"the tasks %q and %q both changed %s while they ran: changes may be lost", other, in.task.Title, name))
		}
	}
	return warnings
}

func (in *inner) warn(message string) {
	_ = in.run.out.Emit(agent.Event{ // fails only when the turn is over
		Type: protocol.Notice, Task: in.task.ID,
		Data: protocol.NoticeData{Level: protocol.LevelWarning, Message: message},
	})
}

// maxStoredPaths bounds the paths of the stored changes, in bytes.
const maxStoredPaths = 64 << 10

// storedChanges are the changed files that matter after a restart of the server: those of tasks that
// run, and of tasks that ended since the first of them began.
type storedChanges struct {
	Now       int                     `json:"now"`
	Attempts  []attempt               `json:"attempts,omitempty"`
	Conflicts []protocol.FileConflict `json:"conflicts,omitempty"`
}

// store returns what is to be stored; nil: nothing.
func (c *changedFiles) store() *storedChanges {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.running) == 0 && len(c.conflicts) == 0 {
		return nil
	}
	s := &storedChanges{Now: c.now, Conflicts: slices.Clone(c.conflicts)}
	index := map[*attempt]int{}
	first, size := c.now, 0
	add := func(a *attempt) {
		if _, ok := index[a]; !ok {
			index[a] = len(s.Attempts)
			s.Attempts = append(s.Attempts, *a)
		}
	}
	for _, a := range c.running {
		first = min(first, a.Began)
		add(a)
	}
	if len(c.running) == 0 {
		return s
	}
	for path, by := range c.attempts {
		for _, a := range by {
			if size += len(path); size > maxStoredPaths || a.End != 0 && a.End < first {
				continue
			}
			add(a)
			s.Attempts[index[a]].Paths = append(s.Attempts[index[a]].Paths, path)
		}
	}
	return s
}

func (c *changedFiles) restore(s *storedChanges) {
	c.now, c.conflicts, c.attempts = s.Now, slices.Clone(s.Conflicts), map[string][]*attempt{}
	for _, stored := range s.Attempts {
		a := &stored
		if a.End == 0 {
			c.running = append(c.running, a)
		}
		for _, path := range a.Paths {
			c.attempts[path] = append(c.attempts[path], a)
		}
		a.Paths = nil
	}
	for _, by := range c.attempts {
		slices.SortFunc(by, func(a, b *attempt) int { return cmp.Compare(a.Began, b.Began) })
	}
}
