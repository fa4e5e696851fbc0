package operator

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
)

// TestAccountsForged holds that nobody cleans up after a RuleSet but accounts of its own
// namespace, whatever its status says: neither those of others nor dyncontroller itself.
func TestAccountsForged(t *testing.T) {
	left := func(namespace, account, of string) v1alpha1.Leftover {
		return v1alpha1.Leftover{
			Rule: "r", Kind: "children", Version: "v1", Resource: "configmaps", Namespace: namespace,
			ServiceAccount: account, ServiceAccountNamespace: of,
		}
	}
	set := &object{Object: source.Object{Key: source.Key{Kind: "RuleSet", Namespace: "shop", Name: "s"}, Deleting: true}}
	set.Status.Inventory = []v1alpha1.Leftover{
		left("shop", "", ""), left("", "", ""), left("shop", "bot", "bank"), left("bank", "bot", "shop"), left("shop", "bot", "shop"),
	}
	if diff := cmp.Diff([]types.NamespacedName{{Namespace: "shop", Name: "bot"}}, set.accounts()); diff != "" {
		t.Errorf("the accounts (-want +got):\n%s", diff)
	}
}
