package create

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/protocol"
	"agentctl/server/policy"
)

// The settings of an agent with their own flags.
const (
	settingMode   = "mode"
	settingModel  = "model"
	settingPolicy = protocol.PolicySetting
	settingLimit  = protocol.ContinueSetting
)

// policyNames returns the names of the policies, for completion.
func policyNames() (names []string) {
	for _, d := range policy.All {
		names = append(names, string(d.Policy))
	}
	return names
}

// settingFlags are the flags that choose settings of an agent.
type settingFlags struct {
	Mode    string
	Model   string
	Policy  string
	Limit   string   // continuations after usage limits
	Options []string // each K=V
}

func (s *settingFlags) add(f *pflag.FlagSet) {
	f.StringVar(&s.Mode, settingMode, "", "`MODE` of the agent")
	f.StringVar(&s.Model, settingModel, "", "`MODEL` of the agent")
	f.StringVar(&s.Policy, settingPolicy, "", "`NAME`: ask, auto-read, auto-edit, deny, plan")
	f.StringVar(&s.Limit, settingLimit, "", "continue up to `N` times after a usage limit ends")
	f.StringArrayVar(&s.Options, "option", nil, "set another setting `K=V`; repeatable")
}

// policyFile reads the policy file that --policy names; nil: it names a policy, or nothing.
func (s *settingFlags) policyFile() (*protocol.PolicyFile, error) {
	if !s.namesFile() {
		return nil, nil
	}
	b, err := os.ReadFile(s.Policy)
	if err != nil {
		return nil, exit.Usagef("--policy: %w", err)
	}
	f, err := policy.ParseFile(filepath.Base(s.Policy), b)
	if err != nil {
		return nil, exit.Usagef("--policy %s: %w", s.Policy, err)
	}
	return f, nil
}

// namesFile reports whether --policy is the path of a file. No name of a policy has a dot or slash.
func (s *settingFlags) namesFile() bool { return strings.ContainsAny(s.Policy, "./") }

// values returns the chosen settings.
func (s *settingFlags) values() (map[string]string, error) {
	values, err := verb.ParsePairs("--option", s.Options)
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		settingMode: s.Mode, settingModel: s.Model, settingPolicy: s.Policy, settingLimit: s.Limit,
	} {
		if value == "" || name == settingPolicy && s.namesFile() {
			continue
		}
		if values == nil {
			values = map[string]string{}
		}
		if _, twice := values[name]; twice {
			return nil, exit.Usagef("--%s and --option %s: pass one of them", name, name)
		}
		values[name] = value
	}
	return values, nil
}
