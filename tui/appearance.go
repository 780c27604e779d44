package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"agentctl/tui/ui"
)

// imagesQueryTime is how long the terminal may take to answer the query about its graphics, before
// images are drawn without them.
const imagesQueryTime = 2 * time.Second

// imagesTimeoutMsg ends the wait for the answers of the terminal.
type imagesTimeoutMsg struct{}

// appearance changes the styles of all screens: theme, colours of the terminal, and how images are
// drawn.
type appearance struct {
	styles *ui.Styles
	after  func(time.Duration, tea.Msg) tea.Cmd
}

// filter handles the messages that change the appearance. In their place it returns the message
// with which the screens draw it, or nil. It returns any other message.
func (a *appearance) filter(msg tea.Msg) (tea.Msg, tea.Cmd) {
	switch m := msg.(type) {
	case tea.BackgroundColorMsg, tea.ColorProfileMsg, tea.ModeReportMsg:
		images := a.styles.Images.Method()
		if a.styles.Update(msg) || a.styles.Images.Method() != images {
			return ui.RestyleMsg{}, nil
		}
		return nil, nil
	case ui.ThemeMsg:
		query, changed := a.styles.SetTheme(m.Theme)
		if !changed {
			return nil, query
		}
		return ui.RestyleMsg{}, query
	case ui.ImagesMsg:
		return ui.RestyleMsg{}, tea.Raw(a.styles.Images.SetMode(m.Mode))
	case ui.QueryImagesMsg, imagesTimeoutMsg, tea.TerminalVersionMsg, uv.KittyGraphicsEvent,
		uv.PrimaryDeviceAttributesEvent:
		return a.updateImages(msg)
	}
	return msg, nil
}

// updateImages queries the terminal for its graphics, or handles its answers. The sessions on the
// screen draw their images as soon as these decide how.
func (a *appearance) updateImages(msg tea.Msg) (tea.Msg, tea.Cmd) {
	display := a.styles.Images
	before := display.Method()
	switch msg := msg.(type) {
	case ui.QueryImagesMsg:
		if query := display.Query(); query != "" {
			return nil, tea.Batch(tea.Raw(query), a.after(imagesQueryTime, imagesTimeoutMsg{}))
		}
	case uv.KittyGraphicsEvent:
		display.SetGraphics(msg.Options.ID, msg.Payload)
	case tea.TerminalVersionMsg:
		display.SetName(msg.Name)
	case uv.PrimaryDeviceAttributesEvent, imagesTimeoutMsg:
		display.EndQuery()
	}
	if display.Method() == before {
		return nil, nil
	}
	return ui.ImagesChangedMsg{}, nil
}
