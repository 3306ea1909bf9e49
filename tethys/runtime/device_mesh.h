// DeviceMesh: a mesh laid on the devices of a client, with the books of what lies and happens there. Shared by all
// Arrays on it; any thread may use it.
#pragma once

#include <memory>
#include <vector>

#include "pjrt/client.h"
#include "runtime/ledger.h"
#include "runtime/time_accounts.h"
#include "runtime/tracer.h"
#include "values/mesh.h"

namespace tethys {

class DeviceMesh {
 public:
  // Mesh position p is the client's device number p in order of ids. UserError if there are too few of them or the
  // mesh's process addresses one that this client does not.
  DeviceMesh(std::shared_ptr<const pjrt::Client> client, Mesh mesh, std::shared_ptr<Tracer> tracer = nullptr);

  const pjrt::Client& client() const { return *client_; }
  const Mesh& mesh() const { return mesh_; }
  // For each addressable position of the mesh, in order, the client's number of the device (see Client).
  const std::vector<int64_t>& devices() const { return devices_; }
  // Whether Arrays of the other can be arguments here.
  bool same_devices(const DeviceMesh& other) const { return client_ == other.client_ && mesh_ == other.mesh_; }

  Ledger& ledger() const { return ledger_; }
  TimeBook& time() const { return time_; }
  // May be null.
  const std::shared_ptr<Tracer>& tracer() const { return tracer_; }

 private:
  std::shared_ptr<const pjrt::Client> client_;
  Mesh mesh_;
  std::vector<int64_t> devices_;
  mutable Ledger ledger_;
  mutable TimeBook time_;
  std::shared_ptr<Tracer> tracer_;
};

}  // namespace tethys
