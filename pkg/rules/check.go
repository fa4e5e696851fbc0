package rules

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// checked takes a string that passes a check.
func checked(into *string, check func(string) error) document.Decoder {
	return func(n *document.Node) document.Errors {
		if errs := document.String(into)(n); len(errs) > 0 || n.Kind() != document.KindString {
			return errs
		}
		if err := check(*into); err != nil {
			return document.Errors{n.Errorf("", "%v", err)}
		}
		return nil
	}
}

// label is what names a rule, a namespace or a version.
func label(text string) error {
	return refusal(text, validation.IsDNS1123Label(text))
}

// subdomain is what names an object.
func subdomain(text string) error {
	return refusal(text, validation.IsDNS1123Subdomain(text))
}

func refusal(text string, reasons []string) error {
	if len(reasons) == 0 {
		return nil
	}
	return fmt.Errorf("%q is not a name that Kubernetes takes: %s", text, reasons[0])
}

// groupName allows the core group, which is empty.
func groupName(text string) error {
	if text == "" {
		return nil
	}
	if group, version, both := strings.Cut(text, "/"); both {
		return fmt.Errorf("%q is a group and a version: write group: %s and version: %s", text, group, version)
	}
	return subdomain(text)
}

// resourceName catches the kind in place of the resource, and subresources.
func resourceName(text string) error {
	switch {
	case strings.ToLower(text) != text:
		return fmt.Errorf("%q looks like a kind: write the plural resource, such as %q", text, strings.ToLower(text)+"s")
	case strings.Contains(text, "/"):
		return fmt.Errorf("%q is a subresource, which cannot be watched", text)
	default:
		return subdomain(text)
	}
}

func labelSelector(text string) error {
	if _, err := labels.Parse(text); err != nil {
		return fmt.Errorf("not a label selector such as app=tidb,tier!=test: %w", err)
	}
	return nil
}

func fieldSelector(text string) error {
	if _, err := fields.ParseSelector(text); err != nil {
		return fmt.Errorf("not a field selector such as metadata.name=basic: %w", err)
	}
	return nil
}
