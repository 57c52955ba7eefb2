// A kernel with named barriers 0 to 2 and static shared memory.
__global__ void meet(float* values) {
  __shared__ float copies[64];
  copies[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  asm volatile("bar.sync 2, 64;" ::: "memory");
  values[threadIdx.x] = copies[63 - threadIdx.x];
}
