// Work that is counted in items, such as the tiles of a product, is done in turns where all at once would keep the
// device for too long (Launch::run_in_turns). A dispatch does the items from first_item on and before end_item.
#define TURN uint first_item, end_item;
#define EACH_ITEM(item) \
  for (uint item = first_item + gl_WorkGroupID.x; item < end_item; item += gl_NumWorkGroups.x)
