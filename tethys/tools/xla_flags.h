// XLA_FLAGS, looked at before a plugin does: that would end the process for what it does not understand.
#pragma once

namespace tethys {

class Config;
struct Surroundings;

// On a cpu, tries in a child whether the plugin of the configuration starts with XLA_FLAGS, if they are set. UserError
// that says what it does not take. Called first: the process must have one thread.
void check_xla_flags(const Config& config, const Surroundings& surroundings);

}  // namespace tethys
