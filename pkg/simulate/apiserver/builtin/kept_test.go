package builtin

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestKept(t *testing.T) {
	tests := map[string]struct {
		reason string
		gv     schema.GroupVersion
		object runtime.Object
		want   string
	}{
		"EmptyList": {
			"It is absent, which is shown as null where the type always shows it.",
			rbacv1.SchemeGroupVersion,
			&rbacv1.Role{Rules: []rbacv1.PolicyRule{}},
			`"rules":null`,
		},
		"NullInMap": {
			"A null in the data of a Secret is an empty text.",
			corev1.SchemeGroupVersion,
			&corev1.Secret{Data: map[string][]byte{"a": nil}},
			`"data":{"a":""}`,
		},
		"EmptyMap": {
			"It is absent.",
			corev1.SchemeGroupVersion,
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x", Labels: map[string]string{}}},
			`"metadata":{"name":"x"}}`,
		},
		"Rest": {
			"What is not empty stays.",
			corev1.SchemeGroupVersion,
			&corev1.ConfigMap{Data: map[string]string{"a": "", "b": "c"}},
			`"data":{"a":"","b":"c"}`,
		},
		"Kind": {
			"Of what kind it is does not get lost.",
			corev1.SchemeGroupVersion,
			&corev1.ConfigMap{},
			`"kind":"ConfigMap","apiVersion":"v1"`,
		},
	}
	k, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			data, err := runtime.Encode(k.codec(tc.gv), tc.object)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(data), tc.want) {
				t.Errorf("%s got %s, want %s in it", tc.reason, data, tc.want)
			}
		})
	}
}
