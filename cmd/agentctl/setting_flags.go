package main

import (
	"github.com/spf13/pflag"

	"agentctl/internal/exit"
)

// The settings of an agent that have a flag of their own.
const (
	settingMode  = "mode"
	settingModel = "model"
)

// settingFlags are the flags that choose settings of an agent.
type settingFlags struct {
	Mode    string
	Model   string
	Options []string // each K=V
}

func (s *settingFlags) add(f *pflag.FlagSet) {
	f.StringVar(&s.Mode, settingMode, "", "`MODE` of the agent")
	f.StringVar(&s.Model, settingModel, "", "`MODEL` of the agent")
	f.StringArrayVar(&s.Options, "option", nil, "set `K=V`, another setting of the agent; repeatable")
}

// values returns the chosen settings.
func (s *settingFlags) values() (map[string]string, error) {
	values, err := parsePairs("--option", s.Options)
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{settingMode: s.Mode, settingModel: s.Model} {
		if value == "" {
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
