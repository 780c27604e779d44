package layout

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// packageRule is a package of the module and the packages of the module that its non-test files may
// import. Both are relative to the module root. An import that ends in /... includes all packages
// below. Packages below devDir may import everything.
type packageRule struct {
	pkg     string
	imports []string
	noIO    bool // no third-party code, no I/O, no goroutine, no clock
}

var (
	codecImports = []string{"protocol", "protocol/codec"}
	agentImports = []string{"internal/format", "protocol", "server/policy", "server/sandbox", "server/agent/..."}
	// providerImports are the imports of the API of a model provider.
	providerImports = []string{"server/agent/llm/model", "server/agent/llm/sse", "server/agent/llm/transport"}
	serverImports   = []string{"protocol", "protocol/codec", "dialect", "server/..."}

	// verbImports are the imports of every package of verbs. None imports another.
	verbImports = []string{
		"dialect", "internal/cli/call", "internal/cli/completion", "internal/cli/connection", "internal/cli/turn",
		"internal/cli/verb", "internal/config", "internal/exit", "internal/format", "internal/localserver",
		"internal/output", "protocol", "protocol/codec", "wsclient",
	}

	// componentImports are the imports of the parts of a session's screen.
	componentImports = []string{
		"protocol", "internal/format", "tui/filechange", "tui/describe", "tui/ui", "tui/remote", "tui/keymap",
		"tui/turns", "tui/diff", "tui/highlight", "tui/thumbnail", "tui/transcript",
	}
	// screenImports are the imports of a screen. No screen imports another.
	screenImports = []string{
		"protocol", "internal/format", "internal/panics", "internal/attachment", "internal/download", "internal/filelist",
		"internal/gitbranch",
		"tui/composer", "tui/palette", "tui/drafts", "tui/shell", "tui/approval", "tui/review",
		"tui/transcriptview", "tui/changes", "tui/filechange", "tui/notify", "tui/describe", "tui/ui",
		"tui/turns", "tui/location", "tui/request",
		"tui/remote", "tui/keymap", "tui/task", "tui/sessionlist",
		"tui/diff", "tui/highlight", "tui/thumbnail", "tui/transcript",
	}

	// panelImports are the imports of a part of the session view. No part imports the view.
	panelImports = []string{
		"protocol", "internal/format",
		"tui/describe", "tui/keymap", "tui/remote", "tui/request", "tui/sessionview/panel", "tui/sessionview/replica",
		"tui/task", "tui/transcript", "tui/transcriptview", "tui/turns", "tui/ui",
	}
)

// packageRules lists every package, in the order of the map in ARCHITECTURE.md. Imports point down
// only.
var packageRules = []packageRule{
	{pkg: "cmd/agentctl", imports: []string{"internal/cli", "internal/cli/verb"}},
	{pkg: "internal/cli", imports: append([]string{
		"internal/cli/...", "internal/manpage", "internal/retired", "tui",
	}, verbImports...)},
	{pkg: "internal/cli/verb", imports: []string{
		"dialect", "internal/config", "internal/exit", "internal/localserver", "internal/output",
		"protocol", "protocol/codec",
	}},
	{pkg: "internal/cli/host", imports: []string{
		"internal/config", "internal/exit", "internal/localserver",
	}},
	{pkg: "internal/cli/localagent", imports: []string{
		"internal/agents", "internal/cli/host", "internal/cli/verb", "internal/config",
		"internal/exit", "internal/localserver", "internal/output", "protocol", "server/agent/acp", "server/agent/acp/catalog",
		"server/agent/process",
	}},
	{pkg: "internal/cli/connection", imports: []string{
		"dialect", "internal/agents", "internal/cli/localagent", "internal/cli/verb",
		"internal/config", "internal/credentials", "internal/exit", "internal/localserver",
		"internal/output", "internal/ssh", "protocol", "server/agent/process", "tui/protolog",
		"wsclient", "wsclient/wirelog",
	}},
	{pkg: "internal/cli/completion", imports: []string{
		"internal/agents", "internal/cli/connection", "internal/cli/verb", "internal/output",
		"protocol", "server/agent/acp", "wsclient",
	}},
	{pkg: "internal/cli/call", imports: []string{
		"internal/cli/completion", "internal/cli/connection", "internal/cli/verb", "protocol",
	}},
	{pkg: "internal/cli/turn", imports: []string{
		"dialect", "internal/attachment", "internal/cli/connection", "internal/cli/verb",
		"internal/exit", "internal/export", "internal/format", "internal/output", "protocol", "tui/describe",
		"wsclient",
	}},
	{pkg: "internal/cli/sessionlog", imports: []string{
		"internal/cli/connection", "internal/cli/verb", "protocol", "wsclient",
	}},
	{pkg: "internal/cli/sessiontable", imports: []string{
		"internal/format", "internal/exit", "internal/output", "internal/worktree", "protocol", "server/policy",
		"tui/remote",
	}},
	{pkg: "internal/cli/screen", imports: []string{
		"internal/userstate",
		"internal/cli/connection", "internal/cli/verb", "internal/config", "internal/exit",
		"internal/export", "internal/output", "internal/panics", "protocol", "tui", "tui/logview",
		"tui/notify", "tui/remote", "tui/serverset", "wsclient",
	}},
	{pkg: "internal/cli/sessions", imports: append([]string{
		"internal/cli/localagent", "internal/cli/screen", "internal/cli/sessionlog",
		"internal/cli/sessiontable", "internal/worktree", "server/login", "tui/remote",
		"tui/sessionlist",
	}, verbImports...)},
	{pkg: "internal/cli/create", imports: append([]string{
		"internal/agents", "internal/attachment", "internal/cli/localagent", "internal/worktree",
		"server/agent/acp", "server/policy", "tui/describe", "tui/plain",
	}, verbImports...)},
	{pkg: "internal/cli/attach", imports: append([]string{
		"internal/userstate", "internal/worktree",
		"internal/cli/localagent", "internal/cli/screen", "internal/cli/sessionlog",
		"internal/cli/sessiontable", "tui", "tui/drafts", "tui/plain", "tui/remote", "tui/replay",
		"tui/sessionlist", "tui/split", "tui/ui", "wsclient/wirelog",
	}, verbImports...)},
	{pkg: "internal/cli/tour", imports: append([]string{
		"internal/agents", "internal/cli/localagent", "internal/cli/screen", "server/agent/script",
		"server/embedded", "server/session", "tui", "tui/plain", "tui/remote",
		"tui/tour", "tui/ui",
	}, verbImports...)},
	{pkg: "internal/cli/steer", imports: append([]string{
		"tui/describe", "tui/plain", "tui/transcript",
	}, verbImports...)},
	{pkg: "internal/cli/read", imports: append([]string{
		"internal/cli/sessionlog", "internal/export", "server/history", "tui/describe",
		"tui/remote",
	}, verbImports...)},
	{pkg: "internal/cli/serve", imports: append([]string{
		"internal/localserver/instance", "internal/agents", "internal/cli/host", "internal/credentials", "internal/export",
		"internal/redact", "internal/serverlog", "internal/ssh", "internal/worktree", "server", "server/archive",
		"server/hook", "server/login", "server/sandbox", "server/session", "server/session/upkeep", "server/sqlite",
	}, verbImports...)},
	{pkg: "internal/cli/store", imports: append([]string{
		"internal/localserver/instance",
		"server/eventlog", "server/session/stored", "server/sqlite",
	}, verbImports...)},
	{pkg: "internal/cli/agents", imports: append([]string{
		"internal/agents", "internal/cli/localagent", "server/agent", "server/agent/acp", "server/agent/acp/catalog",
	}, verbImports...)},
	{pkg: "internal/cli/doctor", imports: append([]string{
		"internal/agents", "internal/cli/host", "internal/cli/localagent", "internal/cli/sessionlog",
		"internal/download", "internal/instructions", "internal/redact", "internal/retired", "internal/serverlog",
		"server", "server/sandbox", "server/sqlite",
	}, verbImports...)},
	{pkg: "internal/cli/mcp", imports: append([]string{
		"internal/agents", "internal/cli/localagent", "internal/export", "server/policy",
	}, verbImports...)},
	{pkg: "internal/cli/acp", imports: append([]string{"internal/cli/localagent", "protocol/acp"}, verbImports...)},
	{pkg: "internal/cli/access", imports: append([]string{"internal/atomicfile", "internal/credentials", "server/login"}, verbImports...)},
	{pkg: "server", imports: append(slices.Clip(serverImports), "internal/panics", "protocol/acp", "docs")},
	{pkg: "server/web", imports: serverImports},
	{pkg: "server/login", imports: serverImports},
	{pkg: "server/metrics"},
	{pkg: "server/session", imports: []string{
		"protocol", "server/archive", "server/eventlog", "server/metrics", "server/policy", "server/agent",
		"server/session/...", "internal/redact", "internal/worktree",
	}},
	{pkg: "server/session/agentprocess", imports: []string{"protocol", "server/agent", "server/eventlog"}},
	{pkg: "server/session/approval", imports: []string{
		"protocol", "server/policy", "server/agent", "server/session/record",
	}},
	{pkg: "server/session/confinement", imports: []string{"protocol", "server/agent", "server/policy"}},
	{pkg: "server/session/idempotency", imports: []string{"protocol", "server/eventlog"}},
	{pkg: "server/session/item", imports: []string{"protocol", "server/session/record"}},
	{pkg: "server/session/limit", imports: []string{
		"protocol", "server/agent", "server/session/queue", "server/session/record",
	}},
	{pkg: "server/session/list", imports: []string{"protocol", "server/session/record"}},
	{pkg: "server/session/output", imports: []string{
		"protocol", "server/agent", "server/eventlog", "server/session/record",
	}},
	{pkg: "server/session/presence", imports: []string{"protocol", "server/session/record"}},
	{pkg: "server/session/queue", imports: []string{"protocol", "server/session/record"}},
	{pkg: "server/session/record", imports: []string{"protocol"}},
	{pkg: "server/session/recorder", imports: []string{
		"internal/gitbranch", "protocol", "server/eventlog", "server/session/output", "server/session/record",
	}},
	{pkg: "server/session/slot", imports: []string{"protocol", "server/agent"}},
	{pkg: "server/session/stored", imports: []string{"protocol", "server/agent", "server/eventlog", "server/session/record"}},
	{pkg: "server/session/subagent", imports: []string{"protocol"}},
	{pkg: "server/session/upkeep", imports: []string{"protocol"}},
	{pkg: "server/eventlog", imports: []string{"protocol", "server/agent"}},
	{pkg: "server/archive", imports: []string{
		"protocol", "server/agent", "server/eventlog", "server/session/item", "server/session/output",
		"server/session/record",
	}},
	{pkg: "server/policy", imports: []string{"protocol", "server/policy/commandline", "internal/realpath"}},
	{pkg: "server/policy/commandline"},
	{pkg: "server/hook", imports: []string{
		"protocol", "server/eventlog", "server/session/approval", "server/session/list", "server/agent/process",
		"internal/atomicfile", "internal/safetext",
	}},
	{pkg: "server/history", imports: []string{"protocol", "server/eventlog"}},
	{pkg: "server/sqlite", imports: []string{
		"protocol", "server/eventlog", "server/session", "server/agent", "server/sqlite/dirlock", "internal/atomicfile",
	}},
	{pkg: "server/sqlite/dirlock"},
	{pkg: "server/embedded", imports: serverImports},
	{pkg: "server/agent", imports: []string{"protocol", "server/policy", "server/agent/process", "server/sandbox"}},
	{pkg: "server/agent/acp", imports: agentImports},
	{
		pkg: "server/agent/acp/catalog",
		imports: []string{
			"protocol", "server/agent/acp/unidiff", "server/agent/form", "server/sandbox", "internal/resettime",
		},
	},
	{pkg: "server/agent/acp/remote", imports: []string{"server/agent/acp/rpc"}},
	{pkg: "server/agent/acp/rpc", imports: agentImports},
	{pkg: "server/agent/acp/unidiff"},
	{pkg: "server/agent/form", imports: []string{"internal/safetext", "protocol"}},
	{pkg: "server/agent/script", imports: agentImports},
	{pkg: "server/agent/llm", imports: append(slices.Clip(agentImports), "internal/picture")},
	{pkg: "server/agent/llm/arguments", imports: []string{"protocol"}},
	{pkg: "server/agent/llm/compaction", imports: []string{"protocol", "server/agent/llm/model"}},
	{pkg: "server/agent/llm/model"},
	{pkg: "server/agent/llm/sse"},
	{pkg: "server/agent/llm/transport", imports: []string{
		"protocol", "server/agent/llm/model", "server/agent/llm/sse", "internal/redact", "internal/resettime",
	}},
	{pkg: "server/agent/llm/provider", imports: []string{"internal/redact", "server/agent/llm/..."}},
	{pkg: "server/agent/llm/provider/anthropic", imports: providerImports},
	{pkg: "server/agent/llm/provider/chat", imports: providerImports},
	{pkg: "server/agent/llm/provider/google", imports: providerImports},
	{pkg: "server/agent/llm/provider/openai", imports: providerImports},
	{pkg: "server/agent/mcp", imports: agentImports},
	{pkg: "server/agent/pipeline", imports: []string{"internal/format", "protocol", "server/agent", "server/agent/schedule"}},
	{pkg: "server/agent/schedule", imports: []string{"protocol"}},
	{
		pkg: "server/agent/tool",
		imports: append([]string{
			"internal/atomicfile", "internal/filelist", "internal/gitbranch", "internal/instructions", "internal/realpath",
			"server/policy/commandline",
		}, agentImports...),
	},
	{pkg: "server/agent/tool/patch"},
	{pkg: "server/sandbox", imports: []string{"protocol", "server/policy", "server/agent/process"}},
	{pkg: "server/agent/process"},
	{pkg: "tui", imports: []string{"internal/format", "protocol", "internal/panics", "internal/download", "internal/userstate", "tui/..."}},
	{pkg: "tui/plain", imports: []string{
		"internal/format", "protocol", "internal/panics", "tui/approval", "tui/filechange", "tui/describe",
		"tui/ui", "tui/remote", "tui/diff", "tui/transcript",
	}},
	{pkg: "tui/dashboard", imports: screenImports},
	{pkg: "tui/sessionview", imports: append(slices.Clip(screenImports), "tui/sessionview/...")},
	{pkg: "tui/sessionview/pane", imports: append(slices.Clip(panelImports), "tui/approval", "tui/changes", "tui/diff", "tui/filechange", "tui/review")},
	{pkg: "tui/sessionview/images", imports: append(slices.Clip(panelImports), "internal/picture", "tui/sessionview/files", "tui/thumbnail")},
	{pkg: "tui/sessionview/panel", imports: panelImports},
	{pkg: "tui/sessionview/input", imports: append(slices.Clip(panelImports), "internal/attachment",
		"tui/composer", "tui/drafts", "tui/palette", "tui/sessionview/input/completion", "tui/sessionview/shellview")},
	{pkg: "tui/sessionview/input/completion", imports: append(slices.Clip(panelImports), "internal/filelist", "tui/palette")},
	{pkg: "tui/sessionview/shellview", imports: append(slices.Clip(panelImports), "tui/shell")},
	{pkg: "tui/sessionview/queue", imports: panelImports},
	{pkg: "tui/sessionview/gitstatus", imports: panelImports},
	{pkg: "tui/sessionview/sidecolumn", imports: append(slices.Clip(panelImports), "tui/filechange")},
	{pkg: "tui/sessionview/decision", imports: append(slices.Clip(panelImports), "tui/approval")},
	{pkg: "tui/sessionview/contextview", imports: panelImports},
	{pkg: "tui/sessionview/settings", imports: panelImports},
	{pkg: "tui/sessionview/files", imports: append(slices.Clip(panelImports), "internal/download", "tui/location")},
	{pkg: "tui/sessionview/statusline", imports: append(slices.Clip(panelImports), "internal/gitbranch")},
	{pkg: "tui/sessionview/replica", imports: []string{"protocol", "tui/describe", "tui/remote"}},
	{pkg: "tui/request", imports: []string{"protocol", "tui/remote", "tui/task", "tui/ui"}},
	{pkg: "tui/composer", imports: []string{
		"internal/format", "protocol", "tui/edit", "tui/ui", "tui/remote", "tui/transcript",
	}},
	{pkg: "tui/palette", imports: []string{
		"internal/format", "protocol", "tui/ui", "tui/remote", "tui/keymap", "tui/transcript",
	}},
	{pkg: "tui/drafts", imports: []string{"internal/attachment", "internal/userstate"}},
	{pkg: "tui/shell"},
	{pkg: "tui/approval", imports: append(slices.Clip(componentImports), "internal/safetext", "tui/composer", "tui/review")},
	{pkg: "tui/transcriptview", imports: componentImports},
	{pkg: "tui/review", imports: []string{
		"internal/format", "protocol",
		"tui/filechange", "tui/ui", "tui/keymap", "tui/diff", "tui/transcript",
	}},
	{pkg: "tui/changes", imports: []string{
		"internal/format", "protocol", "tui/diff", "tui/filechange", "tui/keymap", "tui/remote", "tui/request", "tui/review",
		"tui/transcript", "tui/transcriptview", "tui/ui",
	}},
	{pkg: "tui/filechange", imports: []string{
		"internal/format", "protocol", "tui/describe", "tui/ui", "tui/diff", "tui/transcript",
	}},
	{pkg: "tui/notify", imports: []string{
		"internal/format", "protocol", "tui/ui", "tui/remote", "tui/transcript",
	}},
	{pkg: "tui/describe", imports: []string{
		"internal/format", "internal/safetext", "protocol", "tui/ui", "tui/remote", "tui/keymap", "tui/diff",
		"tui/transcript",
	}},
	{pkg: "tui/edit"},
	{pkg: "tui/ui", imports: []string{
		"internal/format", "protocol", "tui/edit", "tui/keymap", "tui/diff", "tui/highlight", "tui/thumbnail",
		"tui/transcript",
	}},
	{pkg: "tui/remote", imports: []string{"protocol", "tui/keymap"}},
	{pkg: "tui/turns", imports: []string{"internal/format", "protocol", "tui/remote"}},
	{pkg: "tui/location", imports: []string{"protocol"}},
	{pkg: "tui/replay", imports: []string{"protocol", "tui/remote"}},
	{pkg: "tui/tour", imports: []string{"protocol", "tui/ui", "tui/remote", "tui/keymap"}},
	{pkg: "tui/keymap", imports: []string{"internal/retired"}},
	{pkg: "tui/split", noIO: true},
	{pkg: "tui/task", imports: []string{"internal/panics"}},
	{pkg: "tui/sessionlist", imports: []string{"protocol"}},
	{pkg: "tui/serverset", imports: []string{"protocol", "tui/remote"}},
	{pkg: "tui/diff", imports: []string{"tui/highlight", "tui/transcript"}},
	{pkg: "tui/thumbnail", imports: []string{"internal/picture"}},
	{pkg: "tui/transcript", imports: []string{"protocol", "tui/highlight", "internal/format", "internal/safetext"}},
	{pkg: "tui/highlight"},
	{pkg: "wsclient", imports: []string{"protocol", "protocol/codec", "dialect", "internal/panics"}},
	{pkg: "wsclient/wirelog", imports: []string{"wsclient", "internal/redact"}},
	{pkg: "dialect", imports: []string{"protocol/...", "internal/panics"}},
	{pkg: "docs"},
	{pkg: "protocol", noIO: true},
	{pkg: "protocol/codec", imports: []string{"protocol"}, noIO: true},
	{pkg: "protocol/acp", imports: append(slices.Clip(codecImports), "internal/safetext"), noIO: true},
	{pkg: "protocol/agentloop", imports: append(slices.Clip(codecImports), "protocol/agentloop/..."), noIO: true},
	{pkg: "protocol/agentloop/client", imports: endImports("protocol/agentloop"), noIO: true},
	{pkg: "protocol/agentloop/server", imports: endImports("protocol/agentloop"), noIO: true},
	{pkg: "protocol/agentloop/wire", imports: codecImports, noIO: true},
	{pkg: "protocol/effectiveagent", imports: codecImports, noIO: true},
	{pkg: "protocol/multiagent", imports: append(slices.Clip(codecImports), "protocol/multiagent/..."), noIO: true},
	{pkg: "protocol/multiagent/client", imports: endImports("protocol/multiagent"), noIO: true},
	{pkg: "protocol/multiagent/server", imports: endImports("protocol/multiagent"), noIO: true},
	{pkg: "protocol/multiagent/wire", imports: codecImports, noIO: true},
	{pkg: "protocol/myagent", imports: append(slices.Clip(codecImports), "protocol/myagent/..."), noIO: true},
	{pkg: "protocol/myagent/client", imports: endImports("protocol/myagent"), noIO: true},
	{pkg: "protocol/myagent/server", imports: endImports("protocol/myagent"), noIO: true},
	{pkg: "protocol/myagent/wire", imports: codecImports, noIO: true},
	{pkg: "protocol/sandcastle", imports: append(slices.Clip(codecImports), "protocol/sandcastle/..."), noIO: true},
	{pkg: "protocol/sandcastle/client", imports: endImports("protocol/sandcastle"), noIO: true},
	{pkg: "protocol/sandcastle/server", imports: endImports("protocol/sandcastle"), noIO: true},
	{pkg: "protocol/sandcastle/wire", imports: codecImports, noIO: true},
	{pkg: "internal/config", imports: []string{
		"internal/ssh",
		"protocol", "protocol/codec", "dialect", "server/hook", "server/sandbox", "tui/notify",
		"tui/ui", "tui/keymap", "internal/agents", "internal/exit", "internal/worktree",
		"internal/retired", "internal/userstate",
	}},
	{pkg: "internal/retired"},
	{pkg: "internal/agents", imports: []string{
		"protocol", "server/session", "server/session/confinement", "server/policy", "server/sandbox", "server/agent/...",
	}},
	{pkg: "internal/credentials", imports: []string{
		"protocol", "server/login", "internal/localserver", "internal/exit", "internal/atomicfile",
	}},
	{pkg: "internal/localserver", imports: []string{
		"protocol", "server/eventlog", "server/login", "server/sqlite/dirlock", "internal/exit", "internal/atomicfile",
	}},
	{pkg: "internal/localserver/instance", imports: []string{
		"protocol", "server", "server/eventlog", "server/login", "server/sqlite", "server/sqlite/dirlock",
		"server/agent", "server/agent/process", "internal/exit", "internal/localserver",
	}},
	{pkg: "internal/export", imports: []string{
		"internal/format", "protocol", "tui/diff", "tui/filechange", "tui/describe", "tui/transcript", "internal/output",
	}},
	{pkg: "internal/output", imports: []string{
		"internal/format", "protocol", "tui/describe", "tui/transcript", "internal/exit", "internal/panics", "internal/safetext",
	}},
	{pkg: "internal/exit", imports: []string{"protocol", "dialect", "wsclient", "internal/panics"}},
	{pkg: "internal/panics"},
	{pkg: "internal/picture", imports: []string{"internal/panics"}},
	{pkg: "internal/atomicfile"},
	{pkg: "internal/realpath"},
	{pkg: "internal/userstate", imports: []string{"internal/atomicfile"}},
	{pkg: "internal/safetext"},
	{pkg: "internal/format", noIO: true},
	{pkg: "internal/attachment", imports: []string{"protocol", "internal/picture"}},
	{pkg: "internal/filelist"},
	{pkg: "internal/instructions"},
	{pkg: "internal/gitbranch"},
	{pkg: "internal/redact"},
	{pkg: "internal/resettime"},
	{pkg: "internal/serverlog", imports: []string{"internal/atomicfile", "internal/redact"}},
	{pkg: "internal/worktree", imports: []string{"internal/format"}},
	{pkg: "internal/ssh"},
	{pkg: "internal/download", imports: []string{"internal/atomicfile"}},
	{pkg: "internal/manpage"},
	{pkg: "internal/dev/agentlooptest"},
	{pkg: "internal/dev/bench"},
	{pkg: "internal/dev/browser"},
	{pkg: "internal/dev/codectest"},
	{pkg: "internal/dev/compat"},
	{pkg: "internal/dev/crash"},
	{pkg: "internal/dev/documents"},
	{pkg: "internal/dev/e2e"},
	{pkg: "internal/dev/fakeacp"},
	{pkg: "internal/dev/fakemodel"},
	{pkg: "internal/dev/golden"},
	{pkg: "internal/dev/historygen"},
	{pkg: "internal/dev/interop"},
	{pkg: "internal/dev/interop/interoptest"},
	{pkg: "internal/dev/interop/openapi"},
	{pkg: "internal/dev/interop/sandcastle"},
	{pkg: "internal/dev/interop/thirdparty"},
	{pkg: "internal/dev/layout"},
	{pkg: "internal/dev/memory"},
	{pkg: "internal/dev/modeltable"},
	{pkg: "internal/dev/multiagenttest"},
	{pkg: "internal/dev/myagenttest"},
	{pkg: "internal/dev/paneltest"},
	{pkg: "internal/dev/policyfuzz"},
	{pkg: "internal/dev/release"},
	{pkg: "internal/dev/replay"},
	{pkg: "internal/dev/requestcases"},
	{pkg: "internal/dev/sandboxtest"},
	{pkg: "internal/dev/sandcastletest"},
	{pkg: "internal/dev/schema"},
	{pkg: "internal/dev/screenshot"},
	{pkg: "internal/dev/soak"},
	{pkg: "internal/dev/terminal"},
	{pkg: "internal/dev/terminaltest"},
	{pkg: "internal/dev/testbinary"},
	{pkg: "internal/dev/thorough"},
	{pkg: "internal/dev/tuitest"},
	{pkg: "internal/dev/verbtest"},
}

// endImports are the imports of one end of a dialect: its messages, never the other end.
func endImports(dialect string) []string { return append(slices.Clip(codecImports), dialect+"/wire") }

// denial keeps imports out of a package and, with a trailing /..., of all packages below it. It
// applies to test files only if tests is set.
type denial struct {
	pkg     string
	imports []string
	tests   bool
	reason  string
}

var denials = []denial{
	{
		pkg: "...", tests: true, reason: "abandoned import path",
		imports: []string{
			"nhooyr.io/websocket/...", "github.com/charmbracelet/bubbletea/...",
			"github.com/charmbracelet/lipgloss/...", "github.com/charmbracelet/bubbles/...",
			"github.com/charmbracelet/glamour/...", "github.com/pkg/errors", "io/ioutil",
		},
	},
	{
		pkg: "protocol/...", reason: "the protocol does no I/O",
		imports: []string{
			"net", "net/http/...", "net/rpc/...", "net/smtp", "net/mail", "net/textproto", "os/...",
			"io/fs", "syscall", "database/...", "log/...", "path/filepath", "embed", "plugin",
			"testing/...", "html/template", "text/template", "runtime/...",
		},
	},
	{
		pkg: "tui/transcript", reason: "the transcript does not depend on Bubble Tea",
		imports: []string{"charm.land/bubbletea/...", "charm.land/bubbles/..."},
	},
	{
		pkg: "tui/thumbnail", reason: "images do not depend on Bubble Tea",
		imports: []string{"charm.land/..."},
	},
	{
		pkg: "tui/highlight", reason: "the highlighter does not depend on a terminal",
		imports: []string{"charm.land/...", "github.com/charmbracelet/..."},
	},
	{
		pkg: "tui/diff", reason: "diffs do not depend on a terminal",
		imports: []string{"charm.land/..."},
	},
	{
		pkg: "server/session", reason: "the session does not depend on the network",
		imports: []string{"net/...", "github.com/coder/websocket/..."},
	},
	{
		pkg: "server/history", reason: "reading the past does not depend on the network",
		imports: []string{"net/...", "github.com/coder/websocket/..."},
	},
	{
		pkg: "tui/...", reason: "the screen reaches a server only through its session interface",
		imports: []string{"net/http", "github.com/coder/websocket/...", "database/..."},
	},
}

func importViolations(f file) []string {
	var found []string
	rule, known := ruleOf(f.dir())
	for _, imported := range f.imports {
		pkg, local := strings.CutPrefix(imported, module+"/")
		switch {
		case f.test || isDevPackage(f.dir()) || !known:
		case local && (!matchAny(rule.imports, pkg) || isDevPackage(pkg)):
			found = append(found, fmt.Sprintf("%s: must not import %s", f.name, pkg))
		case !local && rule.noIO && thirdParty(imported):
			found = append(found, fmt.Sprintf("%s: imports %s: standard library only", f.name, imported))
		}
		for _, d := range denials {
			if match(d.pkg, f.dir()) && matchAny(d.imports, imported) && (d.tests || !f.test) {
				found = append(found, fmt.Sprintf("%s: imports %s: %s", f.name, imported, d.reason))
			}
		}
	}
	return found
}

func noIOViolations(f file) []string {
	rule, _ := ruleOf(f.dir())
	if !rule.noIO || f.test {
		return nil
	}
	var found []string
	for _, word := range f.forbidden {
		found = append(found, fmt.Sprintf("%s: uses %s: no goroutine, no clock", f.name, word))
	}
	return found
}

// packageViolations requires a rule and a doc.go with a package comment for every package.
func packageViolations(files []file) []string {
	docs := map[string]string{}
	for _, f := range files {
		docs[f.dir()] += ""
		if path.Base(f.name) == "doc.go" {
			docs[f.dir()] = strings.TrimSpace(f.doc)
		}
	}
	var found []string
	for _, dir := range slices.Sorted(maps.Keys(docs)) {
		if _, known := ruleOf(dir); !known {
			found = append(found, dir+": not in packageRules")
		}
		if docs[dir] == "" {
			found = append(found, dir+": no doc.go with a package comment")
		}
	}
	return found
}

func ruleOf(dir string) (packageRule, bool) {
	for _, r := range packageRules {
		if r.pkg == dir {
			return r, true
		}
	}
	return packageRule{}, false
}

// devDir holds the tools and the test rigs. Only tests and packages below it import a package below
// it.
const devDir = "internal/dev"

func isDevPackage(pkg string) bool { return match(devDir+"/...", pkg) }

func matchAny(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return match(p, pkg) })
}

// match reports whether pkg is the pattern or, if the pattern ends in /..., lies below it. "..."
// matches every package.
func match(pattern, pkg string) bool {
	if pattern == "..." {
		return true
	}
	parent, tree := strings.CutSuffix(pattern, "/...")
	return pkg == parent || tree && strings.HasPrefix(pkg, parent+"/")
}

// thirdParty reports whether an import path lies outside the standard library. Only such paths have
// a dot in the first element.
func thirdParty(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return strings.Contains(first, ".")
}
