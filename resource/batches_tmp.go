package resource

// Batches reports whether several writes can be one.
func (r *Resource) Batches() bool { return r.hub.ops.runner != nil && r.Can(OpCreate) }
