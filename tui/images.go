package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"agentctl/tui/thumbnail"
	"agentctl/tui/ui"
)

// imagesQueryTime is how long the terminal may take to answer the query about its graphics, before
// images are drawn without them.
const imagesQueryTime = 2 * time.Second

// imagesTimeoutMsg ends the wait for the answers of the terminal.
type imagesTimeoutMsg struct{}

// updateImages queries the terminal for its graphics, or handles its answers. The sessions on the
// screen draw their images as soon as these decide how.
func (p *program) updateImages(msg tea.Msg) tea.Cmd {
	display := p.styles.Images
	before := display.Method()
	switch msg := msg.(type) {
	case ui.QueryImagesMsg:
		if query := display.Query(); query != "" {
			return tea.Batch(tea.Raw(query), p.sessions.viewConfig.After(imagesQueryTime, imagesTimeoutMsg{}))
		}
	case uv.KittyGraphicsEvent:
		display.SetGraphics(msg.Options.ID, msg.Payload)
	case tea.TerminalVersionMsg:
		display.SetName(msg.Name)
	case uv.PrimaryDeviceAttributesEvent, imagesTimeoutMsg:
		display.EndQuery()
	}
	if display.Method() == before {
		return nil
	}
	return p.updateOnScreen(ui.ImagesChangedMsg{})
}

// setImages changes how images are drawn.
func (p *program) setImages(mode thumbnail.Mode) tea.Cmd {
	removed := p.styles.Images.SetMode(mode)
	return tea.Batch(tea.Raw(removed), p.restyle())
}
