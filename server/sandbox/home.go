package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// movedBy are directories below the home directory, and the variables that name them instead.
var movedBy = map[string]string{
	".cache": "XDG_CACHE_HOME", ".config": "XDG_CONFIG_HOME", ".local/share": "XDG_DATA_HOME",
	".local/state": "XDG_STATE_HOME", ".cargo": "CARGO_HOME", ".gradle": "GRADLE_USER_HOME", ".npm": "npm_config_cache",
}

// variable returns a variable of the agent's processes, or "".
func (b *Box) variable(name string) (value string) {
	for _, kv := range b.options.Env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v // the last one counts
		}
	}
	return value
}

// homes returns the home directory of the agent's processes, then the one of the user.
func (b *Box) homes() []string {
	if dir := b.variable("HOME"); filepath.IsAbs(dir) && filepath.Clean(dir) != b.home {
		return []string{filepath.Clean(dir), b.home}
	}
	return []string{b.home}
}

// places returns the paths of names below the home directories, and where variables of the agent or of
// the server move them. None contains the home directory.
func (b *Box) places(names ...[]string) (paths []string) {
	for _, name := range slices.Concat(names...) {
		for _, home := range b.homes() {
			paths = append(paths, filepath.Join(home, name))
		}
		for dir, variable := range movedBy {
			below, err := filepath.Rel(dir, name)
			if err != nil || !filepath.IsLocal(below) {
				continue
			}
			for _, moved := range []string{b.variable(variable), os.Getenv(variable)} {
				if path := filepath.Join(moved, below); filepath.IsAbs(path) && !within(path, b.home) {
					paths = append(paths, path)
				}
			}
		}
	}
	return paths
}

// hiddenInHome are paths below the home directory that do not exist in a sandbox: private keys,
// logins, and sockets of programs that run others.
var hiddenInHome = []string{
	".ssh", ".gnupg", ".password-store", ".local/share/keyrings", ".local/share/kwalletd",
	".netrc", ".git-credentials", ".config/git/credentials", ".config/gh", ".config/glab-cli", ".config/hub",
	".aws", ".azure", ".config/gcloud", ".config/op", ".config/rclone", ".config/sops", ".kube", ".vault-token",
	".terraform.d/credentials.tfrc.json", ".cargo/credentials", ".cargo/credentials.toml", ".pypirc",
	".docker", ".config/containers", ".colima", ".lima", ".orbstack", ".rd", ".screen",
	".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware",
	".config/microsoft-edge", ".Xauthority", ".ICEauthority",
	"Library/Keychains", "Library/Cookies",
	".local/share/agentctl", ".local/state/agentctl", ".config/agentctl", ".cache/agentctl",
}

// hiddenVariables name files and directories that are hidden: others than hiddenInHome. Agents log in
// with the file that GOOGLE_APPLICATION_CREDENTIALS names, so it is not among them.
var hiddenVariables = []string{
	"GNUPGHOME", "PASSWORD_STORE_DIR", "NETRC", "GH_CONFIG_DIR", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE",
	"AZURE_CONFIG_DIR", "CLOUDSDK_CONFIG", "KUBECONFIG", "DOCKER_CONFIG",
}

// shownInHome are files in hidden directories that ordinary work reads.
var shownInHome = []string{".ssh/config", ".ssh/known_hosts"}

// cacheDirectories are below the home directory. They are private, but for cachesInHome.
var cacheDirectories = []string{".cache", ".npm"}

// cachesInHome are caches of builds below the home directory, written in the mode workspace.
var cachesInHome = []string{
	".cache/go-build", ".cache/golangci-lint", ".cache/gopls", "go/pkg/mod", "go/pkg/sumdb",
	".npm/_cacache", ".cache/yarn", ".cache/pnpm", ".local/share/pnpm/store", ".cache/node",
	".cache/pip", ".cache/uv", ".cache/pypoetry", ".cargo/registry", ".cargo/git", ".cache/sccache",
	".cache/ccache", ".cache/bazel", ".gradle/caches", ".m2/repository", ".cache/deno", ".cache/zig",
}

// cacheVariables name other directories than cachesInHome.
var cacheVariables = []string{"GOCACHE", "GOMODCACHE", "PIP_CACHE_DIR", "UV_CACHE_DIR"}

// readCaches are caches of programs that agents run. They are read.
var readCaches = []string{".cache/ms-playwright", ".cache/puppeteer", ".cache/huggingface", ".cache/Cypress"}

// startPlaces are below the home directory. The programs in them start without a command of the
// user: no directory of a session is in them, or above them.
var startPlaces = []string{
	".config/systemd", ".config/autostart", ".config/environment.d", ".config/fish", ".config/git",
	".local/share/systemd", ".local/share/applications", ".local/bin", "bin", "Library/LaunchAgents",
}

// temporary are private in every sandbox. Sockets of the system, of terminals and of the desktop
// are in them.
var temporary = []string{"/tmp", "/var/tmp", "/run"}

// shownInRun are parts of /run that ordinary work reads.
var shownInRun = []string{"/run/current-system", "/run/booted-system", "/run/opengl-driver"}

// kernel are files below /proc by which root changes the whole system, without a capability.
var kernel = []string{
	"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi", "/proc/scsi",
}

// droppedVariables name sockets, or the server itself.
var droppedVariables = []string{
	"SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS",
	"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "ICEAUTHORITY", "TMUX", "TMUX_PANE", "TMUX_TMPDIR", "STY",
	"DOCKER_HOST", "CONTAINER_HOST", "XDG_RUNTIME_DIR", "NVIM", "NVIM_LISTEN_ADDRESS", "VSCODE_IPC_HOOK_CLI",
	"KITTY_LISTEN_ON", "WEZTERM_UNIX_SOCKET", "ZELLIJ", "EMACS_SOCKET_NAME", "AGENTCTL_DATA", serverVariable,
	"TMPDIR",
}

// serverVariable names the server for agentctl.
const serverVariable = "AGENTCTL_SERVER"
