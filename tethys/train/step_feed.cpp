#include "train/step_feed.h"

#include "train/setup.h"
#include "train/token_order.h"

namespace tethys {

std::vector<HostTensor> scalars_of(const StepFeed& feed, const TrainingSetup& setup) {
  const double rate[] = {feed.learning_rate};
  return {HostTensor::scalar(static_cast<int32_t>(feed.step)),
          HostTensor::from_doubles({wide(setup.precision.storage), {}}, rate)};
}

std::vector<HostTensor> rows_of(const StepFeed& feed, const TrainingSetup& setup) {
  std::vector<HostTensor> rows;
  for (const HostTensor* part :
       {&feed.batch.tokens, &feed.batch.labels, &feed.batch.positions, &feed.batch.segment_ids})
    rows.push_back(in_order(*part, setup.token_order));
  return rows;
}

}  // namespace tethys
