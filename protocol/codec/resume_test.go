package codec

import (
	"fmt"
	"testing"
)

func TestAResumeStoreKeepsTheNewest(t *testing.T) {
	var store ResumeStore
	for i := range maxConnections + 1 {
		store.Put(fmt.Sprint(i), i)
		store.Put(fmt.Sprint(i), i)
	}
	if store.Get("0") != nil || store.Get("1") != 1 || store.Get(fmt.Sprint(maxConnections)) != maxConnections ||
		store.Get("x") != nil {
		t.Error("the store does not hold exactly the newest connections")
	}
	if n := store.connections.Len(); n != maxConnections || len(store.connections.order) != maxConnections {
		t.Errorf("%d connections stored", n)
	}
}
