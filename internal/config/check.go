package config

import (
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

func atLeast(least int) func(string) error {
	return func(text string) error {
		if n, err := strconv.Atoi(text); err != nil || n < least {
			return fmt.Errorf("want a whole number, at least %d, have %q", least, text)
		}
		return nil
	}
}

func rate(text string) error {
	n, err := strconv.ParseFloat(text, 32)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) || n < 0 {
		return fmt.Errorf("want a number of requests per second, or 0 for no limit, have %q", text)
	}
	return nil
}

func truth(text string) error {
	if _, err := strconv.ParseBool(text); err != nil {
		return fmt.Errorf("want true or false, have %q", text)
	}
	return nil
}

func oneOf(values ...string) func(string) error {
	return func(text string) error {
		if !slices.Contains(values, text) {
			return fmt.Errorf("want %s, have %q", strings.Join(values, " or "), text)
		}
		return nil
	}
}

func namespace(text string) error {
	if wrong := validation.IsDNS1123Label(text); text != "" && len(wrong) > 0 {
		return fmt.Errorf("%q cannot name a namespace: %s", text, wrong[0])
	}
	return nil
}

func label(text string) error {
	if wrong := validation.IsDNS1123Label(text); len(wrong) > 0 {
		return fmt.Errorf("%q cannot be part of the name of a ConfigMap: %s", text, wrong[0])
	}
	return nil
}

// off is the address of a server that is turned off.
const off = "0"

func bindAddress(text string) error {
	if text == off {
		return nil
	}
	_, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf("want an address such as 127.0.0.1:8080 or :8080, or 0 to turn it off, have %q", text)
	}
	return nil
}

func address(text string) string {
	if text == off {
		return ""
	}
	return text
}

// anyPort reports whether the system chooses the port.
func anyPort(address string) bool { return strings.HasSuffix(address, ":0") }
