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
		value, err := envValue(name, text)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", variable, err))
		case value != nil:
			out[name] = value
		default:
			errs = append(errs, notASetting(variable, name))
		}
	}
	return out, errors.Join(errs...)
}

// envValue returns the value of a setting, nil where there is none of the name.
func envValue(name, text string) (any, error) {
	switch name {
	case configFlag:
		return text, nil
	case rulesFlag:
		// As in KUBECONFIG and PATH.
		return filepath.SplitList(text), nil
	case paramFlag:
		// A value may have any other separator in it.
		lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
		_, err := ParseParams(lines)
		return lines, err
	}
	table := settings()
	at := slices.IndexFunc(table, func(s setting) bool { return s.name == name })
	if at < 0 {
		return nil, nil
	}
	return text, table[at].valid(text)
}

// notASetting is nil for what is not meant to be one.
func notASetting(variable, name string) error {
	switch {
	case Unsupported(name):
		return fmt.Errorf("%s is not supported yet", variable)
	case serviceLink.MatchString(variable):
		return nil
	}
	known := append(names(), rulesFlag, paramFlag, configFlag)
	if near := document.Suggest(name, known); near != "" {
		return fmt.Errorf("%s is not a setting; did you mean %s?", variable, variableOf(near))
	}
	return fmt.Errorf("%s is not a setting", variable)
}

func variableOf(name string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}
