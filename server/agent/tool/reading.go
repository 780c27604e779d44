package tool

import (
	"path/filepath"
	"strings"

	"agentctl/server/policy/commandline"
)

// readingSetup begins a command that only reads. git and rg run no programs that the repository or the environment
// names: no monitor of files, external diffs, conversions, filters, signatures, or transports to fetch what is
// missing. Submodules have their own configuration, and are left out. The sandbox holds for what this misses.
const readingSetup = `unset RIPGREP_CONFIG_PATH GIT_CONFIG_PARAMETERS GIT_EXTERNAL_DIFF
export GIT_OPTIONAL_LOCKS=0 GIT_ALLOW_PROTOCOL=none GIT_NO_LAZY_FETCH=1
GIT_CONFIG_COUNT=0
agentctl_set() {
	export "GIT_CONFIG_KEY_$GIT_CONFIG_COUNT=$1" "GIT_CONFIG_VALUE_$GIT_CONFIG_COUNT=$2"
	GIT_CONFIG_COUNT=$((GIT_CONFIG_COUNT+1))
}
agentctl_set core.fsmonitor false
agentctl_set log.showSignature false
for agentctl_name in gpg.program gpg.openpgp.program gpg.x509.program gpg.ssh.program; do
	agentctl_set "$agentctl_name" false
done
while IFS= read -r agentctl_name; do
	case $agentctl_name in
	*.required) agentctl_set "$agentctl_name" false ;;
	?*) agentctl_set "$agentctl_name" '' ;;
	esac
done <<AGENTCTL
$(command git config --name-only --get-regexp '^filter[.].*[.](clean|smudge|process|required)$' 2>/dev/null)
AGENTCTL
export GIT_CONFIG_COUNT
git() {
	agentctl_name=$1
	shift
	case $agentctl_name in
	diff|log|show) command git "$agentctl_name" --no-ext-diff --no-textconv --ignore-submodules=all "$@" ;;
	status) command git status --ignore-submodules=all "$@" ;;
	*) command git "$agentctl_name" "$@" ;;
	esac
}
`

// reads reports whether a command can run in the sandbox of Options.Reader, and whether it names only files within
// the directory of the session.
func (b *Toolbox) reads(command, dir string) (confined, contained bool) {
	words, ok := commandline.Reads(command)
	if !ok || b.options.Reader == nil || b.options.Reader() == nil {
		return false, false
	}
	for _, word := range append(words, ".") {
		_, value, isValue := strings.Cut(word, "=")
		switch {
		case strings.HasPrefix(word, "-") && isValue:
			word = value
		case strings.HasPrefix(word, "-") && strings.Contains(word, "/"):
			return true, false
		}
		if !filepath.IsAbs(word) {
			word = filepath.Join(dir, word)
		}
		if p, err := b.dir.locate(word); err != nil || p.outside {
			return true, false
		}
	}
	return true, true
}
