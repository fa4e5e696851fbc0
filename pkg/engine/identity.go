package engine

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

func versionOf(object map[string]any) string {
	return plan.Text(object, "metadata", "resourceVersion")
}

func uidOf(object map[string]any) types.UID {
	return types.UID(plan.Text(object, "metadata", "uid"))
}
