package dashboard

import (
	"errors"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/tui/ui"
)

// sandboxChoices are the values of the field of the sandbox.
var sandboxChoices = func() (list []protocol.Sandbox) {
	for _, mode := range protocol.SandboxModes {
		s := protocol.Sandbox{Mode: mode}
		if list = append(list, s); s.Confines() {
			list = append(list, protocol.Sandbox{Mode: mode, Network: protocol.SandboxNetworkOff})
		}
	}
	return list
}()

// readSandbox returns the sandbox that a user chose; empty: none.
func readSandbox(text string) (protocol.Sandbox, error) {
	if text == "" {
		return protocol.Sandbox{}, nil
	}
	names := sandboxNames()
	if i := slices.Index(names, text); i >= 0 {
		return sandboxChoices[i], nil
	}
	return protocol.Sandbox{}, errors.New("unknown sandbox: want " + strings.Join(names, "; "))
}

func sandboxNames() (names []string) {
	for _, s := range sandboxChoices {
		names = append(names, s.String())
	}
	return names
}

// offerSandbox shows the field of the sandbox if the server lets users choose one: byDefault is not nil.
func (f *createForm) offerSandbox(byDefault *protocol.Sandbox) {
	at := f.agent + 2
	switch shown := f.sandbox() >= 0; {
	case byDefault == nil && shown:
		f.Remove(at)
	case byDefault != nil && !shown:
		f.Insert(at, ui.NewField("sandbox", "", "", sandboxNames()...))
	}
	if byDefault != nil {
		f.Fields[at].Placeholder = "(default: " + byDefault.String() + ") · →: " + strings.Join(sandboxNames(), " · ")
	}
}

// sandbox returns the index of the field of the sandbox, or -1.
func (f *createForm) sandbox() int {
	if i := f.agent + 2; i < f.promptField() {
		return i
	}
	return -1
}
