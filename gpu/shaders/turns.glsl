// Work that is counted in items, such as the tiles of a product, a work group each, is done in turns where all at once
// would keep the device for too long (Launch::run_in_turns). A dispatch does the items from first_item on.
#define TURN uint first_item;
#define MY_ITEM (first_item + gl_WorkGroupID.x)
