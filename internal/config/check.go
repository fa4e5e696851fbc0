package config

import (
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

func atLeast(least int) func(string) error {
	return func(text string) error {
		if n, err := strconv.Atoi(text); err != nil || n < least {
			return fmt.Errorf("want a whole number, at least %d, have %q", least, text)
		}
		return nil
	}
}

func quantity(text string) error {
	q, err := resource.ParseQuantity(text)
	if err != nil || q.Sign() < 0 {
		return fmt.Errorf("want a number of bytes such as 128Mi, or 0 for no limit, have %q", text)
	}
	return nil
}

// bytesOf is of a text that was checked.
func bytesOf(text string) int64 {
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return 0
	}
	return q.Value()
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

func objectName(text string) error {
	if wrong := validation.IsDNS1123Subdomain(text); len(wrong) > 0 {
		return fmt.Errorf("%q cannot name an object: %s", text, wrong[0])
	}
	return nil
}

func positive(text string) error {
	if d, err := time.ParseDuration(text); err != nil || d <= 0 {
		return fmt.Errorf("want a duration above 0 such as 2s, have %q", text)
	}
	return nil
}

// wholeSeconds is for what a Lease holds as a number of seconds.
func wholeSeconds(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d%time.Second != 0 || d > math.MaxInt32*time.Second {
		return fmt.Errorf("want a duration of whole seconds above 0 such as 15s, have %q", text)
	}
	return nil
}

// sensitive checks a list with commas.
func sensitive(text string) error {
	known := rules.SensitiveKinds()
	for _, kind := range list(text) {
		if slices.Contains(known, kind) {
			continue
		}
		if near := document.Suggest(kind, known); near != "" {
			return fmt.Errorf("%q is no sensitive kind; did you mean %q?", kind, near)
		}
		return fmt.Errorf("%q is no sensitive kind; those are %s", kind, strings.Join(known, ", "))
	}
	return nil
}

// list takes a list with commas apart, each element once, in their order. It is
// nil for none.
func list(text string) []string {
	var out []string
	for element := range strings.SplitSeq(text, ",") {
		if element = strings.TrimSpace(element); element != "" && !slices.Contains(out, element) {
			out = append(out, element)
		}
	}
	return out
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
