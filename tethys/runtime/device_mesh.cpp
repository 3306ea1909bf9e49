#include "runtime/device_mesh.h"

#include <algorithm>

#include "base/error.h"

namespace tethys {

DeviceMesh::DeviceMesh(std::shared_ptr<const pjrt::Client> client, Mesh mesh, std::shared_ptr<Tracer> tracer)
    : client_(std::move(client)), mesh_(std::move(mesh)), tracer_(std::move(tracer)) {
  std::vector<int64_t> ids;
  for (const pjrt::DeviceInfo& device : client_->devices()) ids.push_back(device.id);
  std::sort(ids.begin(), ids.end());
  if (static_cast<int64_t>(ids.size()) < mesh_.size()) {
    user_error(
        "mesh {} needs {} devices, and {} has {}; make the parallelism.* degrees smaller, or on CPU pass "
        "--device.count {}",
        to_string(mesh_), mesh_.size(), client_->platform_name(), ids.size(), mesh_.size());
  }
  const std::vector<pjrt::DeviceInfo>& own = client_->addressable_devices();
  for (int64_t position : mesh_.addressable()) {
    const auto found =
        std::find_if(own.begin(), own.end(), [&](const pjrt::DeviceInfo& d) { return d.id == ids[position]; });
    if (found == own.end()) {
      user_error("device {} of mesh {} belongs to process {}, but this client does not address it", ids[position],
                 to_string(mesh_), mesh_.process_index());
    }
    devices_.push_back(found - own.begin());
  }
}

}  // namespace tethys
