package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// envPrefix begins the variables that are ours.
const envPrefix = "DYNCONTROLLER_"

// serviceLink matches the variables that Kubernetes gives to every container
// for a Service of our name. They are not ours.
var serviceLink = regexp.MustCompile(`_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_\w+)?)?)$`)

// readEnv returns the settings of the environment by name. An empty variable
// counts as one that is not there.
func readEnv(env []string) (map[string]any, error) {
	out := map[string]any{}
	var errs []error
	for _, entry := range slices.Sorted(slices.Values(env)) {
		variable, text, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(variable, envPrefix) || text == "" {
			continue
		}
		name := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(variable, envPrefix)), "_", "-")
		if name == rulesFlag {
			// As in KUBECONFIG and PATH.
			out[name] = filepath.SplitList(text)
			continue
		}
		if err := checkEnv(variable, name, text); err != nil {
			errs = append(errs, err)
			continue
		}
		out[name] = text
	}
	return out, errors.Join(errs...)
}

func checkEnv(variable, name, text string) error {
	if name == configFlag {
		return nil
	}
	table := settings()
	at := slices.IndexFunc(table, func(s setting) bool { return s.name == name })
	switch {
	case at >= 0:
		if err := table[at].valid(text); err != nil {
			return fmt.Errorf("%s: %w", variable, err)
		}
		return nil
	case Unsupported(name):
		return fmt.Errorf("%s is not supported yet", variable)
	case serviceLink.MatchString(variable):
		return nil
	default:
		return unknownVariable(variable, name)
	}
}

func unknownVariable(variable, name string) error {
	known := append(names(), rulesFlag, configFlag)
	if near := document.Suggest(name, known); near != "" {
		return fmt.Errorf("%s is not a setting; did you mean %s?", variable, variableOf(near))
	}
	return fmt.Errorf("%s is not a setting", variable)
}

func variableOf(name string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}
