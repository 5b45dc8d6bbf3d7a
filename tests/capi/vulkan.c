/* A host with a Vulkan device of its own: the engine computes on it, the host copies a tensor's buffer with
 * its own commands, and writes another one. Exits with 77 where there is no device. */
#include <math.h>
#include <stdlib.h>
#include <vulkan/vulkan.h>

#include "check.h"

#define VK(call) CHECK((call) == VK_SUCCESS)

enum { kRows = 32, kColumns = 24, kNumbers = kRows * kColumns, kBytes = kNumbers * 4 };

typedef struct {
  VkInstance instance;
  VkPhysicalDevice physical;
  VkDevice device;
  VkQueue queue;
  uint32_t family;
  VkCommandPool pool;
  VkSemaphore timeline;
  uint64_t reached;
  VkBuffer buffer; /* that the host maps */
  VkDeviceMemory memory;
  const float *mapped;
} Host;

static long locks = 0, unlocks = 0;
static void lock(void *user) {
  CHECK(user == &locks);
  CHECK(locks == unlocks);
  ++locks;
}
static void unlock(void *user) {
  CHECK(user == &locks);
  ++unlocks;
}

static int open_device(Host *host) {
  const float priority = 1;
  uint32_t count = 1, families = 16, i;
  VkQueueFamilyProperties family[16];
  VkApplicationInfo application;
  VkInstanceCreateInfo instance;
  VkPhysicalDeviceVulkan12Features v12;
  VkPhysicalDeviceVulkan11Features v11;
  VkPhysicalDeviceFeatures2 features;
  VkDeviceQueueCreateInfo queue;
  VkDeviceCreateInfo device;
  memset(&application, 0, sizeof application);
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.apiVersion = VK_API_VERSION_1_2;
  memset(&instance, 0, sizeof instance);
  instance.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  instance.pApplicationInfo = &application;
  if (vkCreateInstance(&instance, NULL, &host->instance) != VK_SUCCESS) return 0;
  if (vkEnumeratePhysicalDevices(host->instance, &count, &host->physical) < 0 || count == 0) return 0;
  vkGetPhysicalDeviceQueueFamilyProperties(host->physical, &families, family);
  for (i = 0; i < families && !(family[i].queueFlags & VK_QUEUE_COMPUTE_BIT); ++i) {
  }
  host->family = i;
  memset(&queue, 0, sizeof queue);
  queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue.queueFamilyIndex = i;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  memset(&v12, 0, sizeof v12);
  v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  v12.storageBuffer8BitAccess = VK_TRUE;
  v12.bufferDeviceAddress = VK_TRUE;
  v12.timelineSemaphore = VK_TRUE;
  v12.scalarBlockLayout = VK_TRUE;
  memset(&v11, 0, sizeof v11);
  v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  v11.pNext = &v12;
  v11.storageBuffer16BitAccess = VK_TRUE;
  memset(&features, 0, sizeof features);
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &v11;
  features.features.shaderInt64 = VK_TRUE;
  memset(&device, 0, sizeof device);
  device.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  device.pNext = &features;
  device.queueCreateInfoCount = 1;
  device.pQueueCreateInfos = &queue;
  if (vkCreateDevice(host->physical, &device, NULL, &host->device) != VK_SUCCESS) return 0;
  vkGetDeviceQueue(host->device, host->family, 0, &host->queue);
  return 1;
}

static void make_objects(Host *host) {
  VkCommandPoolCreateInfo pool;
  VkSemaphoreTypeCreateInfo type;
  VkSemaphoreCreateInfo semaphore;
  VkBufferCreateInfo buffer;
  VkMemoryRequirements needs;
  VkMemoryAllocateInfo memory;
  VkPhysicalDeviceMemoryProperties kinds;
  const VkMemoryPropertyFlags wanted =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  void *mapped = NULL;
  uint32_t kind;
  memset(&pool, 0, sizeof pool);
  pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  pool.queueFamilyIndex = host->family;
  VK(vkCreateCommandPool(host->device, &pool, NULL, &host->pool));
  memset(&type, 0, sizeof type);
  type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  memset(&semaphore, 0, sizeof semaphore);
  semaphore.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
  semaphore.pNext = &type;
  VK(vkCreateSemaphore(host->device, &semaphore, NULL, &host->timeline));
  memset(&buffer, 0, sizeof buffer);
  buffer.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  buffer.size = kBytes;
  buffer.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  VK(vkCreateBuffer(host->device, &buffer, NULL, &host->buffer));
  vkGetBufferMemoryRequirements(host->device, host->buffer, &needs);
  vkGetPhysicalDeviceMemoryProperties(host->physical, &kinds);
  for (kind = 0;
       !(needs.memoryTypeBits >> kind & 1) || (kinds.memoryTypes[kind].propertyFlags & wanted) != wanted;)
    ++kind;
  memset(&memory, 0, sizeof memory);
  memory.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  memory.allocationSize = needs.size;
  memory.memoryTypeIndex = kind;
  VK(vkAllocateMemory(host->device, &memory, NULL, &host->memory));
  VK(vkBindBufferMemory(host->device, host->buffer, host->memory, 0));
  VK(vkMapMemory(host->device, host->memory, 0, VK_WHOLE_SIZE, 0, &mapped));
  host->mapped = mapped;
}

static void destroy(Host *host) {
  vkDestroyBuffer(host->device, host->buffer, NULL);
  vkFreeMemory(host->device, host->memory, NULL);
  vkDestroySemaphore(host->device, host->timeline, NULL);
  vkDestroyCommandPool(host->device, host->pool, NULL);
  vkDestroyDevice(host->device, NULL);
  vkDestroyInstance(host->instance, NULL);
}

static VkCommandBuffer begin(Host *host) {
  VkCommandBufferAllocateInfo info;
  VkCommandBufferBeginInfo start;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  memset(&info, 0, sizeof info);
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  info.commandPool = host->pool;
  info.commandBufferCount = 1;
  VK(vkAllocateCommandBuffers(host->device, &info, &commands));
  memset(&start, 0, sizeof start);
  start.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  VK(vkBeginCommandBuffer(commands, &start));
  return commands;
}

/* Runs the commands on the host's queue when the tensor's elements are there; signals the next value. */
static void submit(Host *host, VkCommandBuffer commands, const lg_vulkan_buffer *after) {
  const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
  VkSemaphore awaited;
  VkTimelineSemaphoreSubmitInfo values;
  VkSubmitInfo info;
  memcpy(&awaited, &after->semaphore, sizeof awaited);
  VK(vkEndCommandBuffer(commands));
  ++host->reached;
  memset(&values, 0, sizeof values);
  values.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
  values.waitSemaphoreValueCount = 1;
  values.pWaitSemaphoreValues = &after->value;
  values.signalSemaphoreValueCount = 1;
  values.pSignalSemaphoreValues = &host->reached;
  memset(&info, 0, sizeof info);
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  info.pNext = &values;
  info.waitSemaphoreCount = 1;
  info.pWaitSemaphores = &awaited;
  info.pWaitDstStageMask = &stage;
  info.commandBufferCount = 1;
  info.pCommandBuffers = &commands;
  info.signalSemaphoreCount = 1;
  info.pSignalSemaphores = &host->timeline;
  VK(vkQueueSubmit(host->queue, 1, &info, VK_NULL_HANDLE));
}

static VkBuffer vk_buffer(const lg_vulkan_buffer *place) {
  VkBuffer buffer;
  memcpy(&buffer, &place->buffer, sizeof buffer);
  return buffer;
}

static lg_vulkan_buffer place_of(lg_tensor *tensor, int32_t writes) {
  lg_vulkan_buffer place;
  memset(&place, 0, sizeof place);
  place.struct_size = sizeof place;
  OK(lg_tensor_vulkan(tensor, writes, &place));
  return place;
}

static void reads_without_a_copy(Host *host, lg_engine *engine, lg_tensor *tensor) {
  const lg_vulkan_buffer place = place_of(tensor, 0);
  VkCommandBuffer commands = begin(host);
  VkBufferCopy region;
  VkSemaphoreWaitInfo wait;
  VkMemoryBarrier barrier;
  static float wanted[kNumbers];
  int i, different = 0;
  memset(&region, 0, sizeof region);
  region.srcOffset = place.offset;
  region.size = kBytes;
  vkCmdCopyBuffer(commands, vk_buffer(&place), host->buffer, 1, &region);
  memset(&barrier, 0, sizeof barrier);
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  barrier.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
  vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier,
                       0, NULL, 0, NULL);
  submit(host, commands, &place);
  {
    uint64_t semaphore = 0;
    memcpy(&semaphore, &host->timeline, sizeof semaphore);
    OK(lg_vulkan_wait(engine, "vulkan:host", semaphore, host->reached));
  }
  memset(&wait, 0, sizeof wait);
  wait.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
  wait.semaphoreCount = 1;
  wait.pSemaphores = &host->timeline;
  wait.pValues = &host->reached;
  VK(vkWaitSemaphores(host->device, &wait, UINT64_MAX));
  OK(lg_tensor_read(tensor, wanted, sizeof wanted));
  for (i = 0; i < kNumbers; ++i) different += wanted[i] != host->mapped[i];
  CHECK(different == 0);
  CHECK(wanted[1] != wanted[0]);
}

static void sees_what_the_host_writes(Host *host, lg_engine *engine) {
  const int64_t shape[2] = {kRows, kColumns};
  const float three = 3;
  lg_tensor *tensor = NULL, *sum;
  lg_vulkan_buffer place;
  VkCommandBuffer commands;
  uint64_t semaphore = 0;
  uint32_t bits;
  double value = 0;
  OK(lg_tensor_zeros(engine, LG_F32, shape, 2, "vulkan:host", &tensor));
  place = place_of(tensor, 1);
  commands = begin(host);
  memcpy(&bits, &three, sizeof bits);
  vkCmdFillBuffer(commands, vk_buffer(&place), place.offset, kBytes, bits);
  submit(host, commands, &place);
  memcpy(&semaphore, &host->timeline, sizeof semaphore);
  OK(lg_vulkan_wait(engine, "vulkan:host", semaphore, host->reached));
  sum = call1(engine, "sum", tensor, NULL, NULL, 0);
  OK(lg_tensor_item(sum, &value));
  CHECK(value == 3.0 * kNumbers);
  OK(lg_tensor_release(tensor));
}

static void refuses(lg_engine *engine, const lg_vulkan *good) {
  const char *name = NULL;
  lg_vulkan given = *good;
  lg_tensor *tensor = NULL;
  lg_vulkan_buffer place;
  const int64_t shape[1] = {4};
  GIVES(LG_INVALID_ARGUMENT, lg_vulkan_open(engine, NULL, &name));
  GIVES(LG_INVALID_ARGUMENT, lg_vulkan_open(engine, good, NULL));
  given.struct_size = 8;
  GIVES(LG_BAD_STRUCT, lg_vulkan_open(engine, &given, &name));
  given = *good;
  given.queue = NULL;
  GIVES(LG_INVALID_ARGUMENT, lg_vulkan_open(engine, &given, &name));
  given = *good;
  given.unlock = NULL;
  GIVES(LG_INVALID_ARGUMENT, lg_vulkan_open(engine, &given, &name));
  given = *good;
  given.queue_family = 1000;
  GIVES(LG_DEVICE, lg_vulkan_open(engine, &given, &name));
  GIVES(LG_DEVICE, lg_vulkan_close(engine, "vulkan:host"));
  GIVES(LG_DEVICE, lg_vulkan_close(engine, "cpu"));
  GIVES(LG_INVALID_ARGUMENT, lg_vulkan_wait(engine, "cpu", 0, 1));
  GIVES(LG_DEVICE, lg_vulkan_wait(engine, "cpu", 1, 1));
  memset(&place, 0, sizeof place);
  place.struct_size = sizeof place;
  OK(lg_tensor_zeros(engine, LG_F32, shape, 1, "cpu", &tensor));
  GIVES(LG_DEVICE, lg_tensor_vulkan(tensor, 0, &place));
  OK(lg_tensor_release(tensor));
  CHECK(name == NULL);
}

int main(void) {
  static Host host;
  lg_engine *engine;
  lg_vulkan given;
  const char *name = NULL;
  lg_tensor *x, *w = NULL, *y, *kept;
  static float numbers[kNumbers];
  const int64_t shape[2] = {kColumns, kColumns};
  int i;
  if (!open_device(&host)) return printf("skipped: there is no Vulkan device\n"), 77;
  make_objects(&host);
  memset(&given, 0, sizeof given);
  given.struct_size = sizeof given;
  given.instance = host.instance;
  given.physical_device = host.physical;
  given.device = host.device;
  given.queue = host.queue;
  given.queue_family = host.family;
  given.lock = lock;
  given.unlock = unlock;
  given.user = &locks;
  OK(lg_engine_open(NULL, &engine));
  refuses(engine, &given);
  OK(lg_vulkan_open(engine, &given, &name));
  CHECK(name && strcmp(name, "vulkan:host") == 0);
  OK(lg_engine_set_device(engine, name));

  for (i = 0; i < kNumbers; ++i) numbers[i] = sinf((float)i);
  x = floats(engine, numbers, kRows, kColumns);
  OK(lg_tensor_zeros(engine, LG_F32, shape, 2, NULL, &w));
  OK(lg_tensor_set_requires_grad(w, 1));
  for (i = 0; i < 5; ++i) { /* descends to the identity */
    const lg_param rate = real_param("alpha", -0.5);
    lg_tensor *loss, *grad = NULL, *inputs[2];
    y = call1(engine, "matmul", x, w, NULL, 0);
    loss = call1(engine, "mse_loss", y, x, NULL, 0);
    OK(lg_backward(loss, NULL, 0));
    OK(lg_tensor_grad(w, &grad));
    OK(lg_engine_set_grad_enabled(engine, 0, NULL));
    inputs[0] = w;
    inputs[1] = grad;
    OK(lg_call(engine, op_named("add_"), inputs, 2, &rate, 1, NULL, NULL));
    OK(lg_engine_set_grad_enabled(engine, 1, NULL));
    OK(lg_tensor_set_grad(w, NULL));
    OK(lg_tensor_release(grad));
    OK(lg_tensor_release(loss));
    OK(lg_tensor_release(y));
  }
  kept = call1(engine, "matmul", x, w, NULL, 0);
  reads_without_a_copy(&host, engine, kept);
  sees_what_the_host_writes(&host, engine);
  CHECK(locks > 0);
  CHECK(locks == unlocks);

  OK(lg_engine_set_device(engine, "cpu"));
  OK(lg_vulkan_close(engine, name));
  GIVES(LG_DEVICE, lg_tensor_read(kept, numbers, sizeof numbers));
  OK(lg_engine_close(engine));
  destroy(&host);
  return end_of_checks("vulkan");
}
