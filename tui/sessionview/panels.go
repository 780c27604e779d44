package sessionview

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/sessionview/decision"
	"agentctl/tui/sessionview/gitstatus"
	"agentctl/tui/sessionview/images"
	"agentctl/tui/sessionview/input"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/sessionview/queue"
	"agentctl/tui/sessionview/sidecolumn"
	"agentctl/tui/transcriptview"
)

// panels holds the parts between the transcript and the composer.
type panels struct {
	parts     []panel.Part     // those that follow events, messages or the time
	followers []panel.Follower // parts that follow events
	stages    [stages][]placed

	connection *panel.Connection
	queue      *queue.Panel
	plan       *panel.Plan
	side       *sidecolumn.Column
	git        *gitstatus.Status
	decision   *decision.Panel
	interrupt  *panel.Interrupt
	liveness   *panel.Liveness
	outbox     *input.Outbox
	images     *images.Images
	player     *panel.Player // in place of the composer; nil: the session is no recording
}

// placed is a panel with its place on the screen.
type placed struct {
	panel.Panel
	at     place
	hidden func(side, typing bool) bool // side: beside the side column; typing: into an overlay; may be nil
	limit  func(height int) int         // of its rows on a screen; nil: none
}

// place is the place of one panel on the screen, from the transcript down to the composer. The
// approval is above atConnection.
type place uint8

const (
	atInterrupt place = iota
	atPlan
	atQueue
	atConnection
	atOutbox
	atCommands
	atFiles
	atSearch
	places
)

// Panels get their rows in stages. Within a stage the first panel gets its rows first.
const (
	beforeDocked = iota // before the docked overlay
	afterDocked
	afterApproval
	stages
)

// arrange lists the panels and the other parts. A new panel needs its line here, and its place.
func (v *View) arrange() {
	p := &v.panels
	p.stages = [stages][]placed{
		beforeDocked: {
			{Panel: p.interrupt, at: atInterrupt},
		},
		afterDocked: {
			{Panel: lines(v.transcript.SearchLine), at: atSearch, hidden: func(_, typing bool) bool { return typing }},
			{Panel: lines(v.input.CommandLines), at: atCommands},
			{Panel: lines(v.input.FileLines), at: atFiles},
			{Panel: p.connection, at: atConnection},
			{Panel: p.outbox, at: atOutbox},
		},
		afterApproval: {
			{Panel: p.queue, at: atQueue, hidden: func(side, _ bool) bool {
				return side && v.focus != onQueue && v.input.Editing() == ""
			}},
			{Panel: p.plan, at: atPlan, limit: planLimit, hidden: func(side, _ bool) bool {
				return v.focus != onPlan && (side || p.decision.ListsPlan())
			}},
		},
	}
	// The transcript is first: it applies an event to the turns, which other parts read.
	others := []panel.Part{v.statusLine, p.decision, p.git}
	p.parts = slices.Concat(v.transcript.Parts(), v.input.Parts(), others)
	for _, stage := range p.stages {
		for _, panel := range stage {
			p.parts = append(p.parts, panel.Panel)
		}
	}
	p.parts = append(p.parts, p.images, p.liveness)
	for _, part := range p.parts {
		v.screen.Parts = append(v.screen.Parts, part)
		if f, ok := part.(panel.Follower); ok {
			p.followers = append(p.followers, f)
		}
	}
}

// updateParts passes a message to the parts.
func (v *View) updateParts(msg tea.Msg) tea.Cmd {
	var cmds []tea.Cmd
	for _, part := range v.panels.parts {
		cmd, changed := part.Update(msg)
		v.canvas.Dirty = v.canvas.Dirty || changed
		if cmd != nil {
			cmds = append(cmds, cmd)
		}
	}
	return tea.Batch(cmds...)
}

// planLimit returns the maximum number of rows of the plan on a screen.
func planLimit(height int) int {
	return 1 + max(planRows, min(transcriptview.ChecklistRows, (height+1)/5))
}

// linePanel is a panel of lines that another part of the view draws.
type linePanel struct {
	panel.Base
	view func(width int) []string
}

func lines(view func(width int) []string) *linePanel { return &linePanel{view: view} }

// View implements [panel.Panel].
func (p *linePanel) View(width, _ int) []string { return p.view(width) }
